import type {
  AutomationDefinition,
  MailDeed,
  StepDefinition,
  UnseenDeps,
} from '../../automations/index.js'
import { findSenderDomain, verifiedDomains } from '../../domains/index.js'
import { unseenOf, type WhyUnseen } from '../../tracking/index.js'

export type SendingStep = Extract<StepDefinition, { type: 'send_email' }>
export type AskingDefinition = Pick<AutomationDefinition, 'steps' | 'settings'>

export const sendsIn = ({ steps }: AskingDefinition): SendingStep[] =>
  steps.flatMap((step) => (step.type === 'send_email' ? [step] : []))

/** Why nobody can see opens of, or clicks in, any of the account's news; undefined where they may be seen. */
export async function unseenEverywhere(
  { store: { read }, tracking }: UnseenDeps,
  accountId: string,
  deed: MailDeed,
): Promise<{ why: WhyUnseen; domain: string } | undefined> {
  let first: { why: WhyUnseen; domain: string } | undefined
  for (const domain of await verifiedDomains(read, accountId)) {
    const { id = '' } = (await findSenderDomain(read, accountId, domain)) ?? {}
    const mail = { domainId: id, html: '<img src="">', type: 'marketing' } as const
    const { [deed]: why } = await unseenOf(read, mail, tracking)
    if (why === undefined) return undefined
    first ??= { why, domain }
  }
  return first
}
