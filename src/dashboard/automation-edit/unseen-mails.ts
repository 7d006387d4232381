import type { AutomationDefinition, StepDefinition, UnseenMails } from '../../automations/index.js'
import { findSenderDomain, verifiedDomains } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { findTemplate } from '../../templates/index.js'
import { type Switches, type UnseenOf, unseenOf, type WhyUnseen } from '../../tracking/index.js'

/** What says whether opens and clicks are seen; `tracking` undefined: nobody out there could ask for a pixel. */
export interface UnseenDeps {
  store: { read: Read }
  tracking: Switches | undefined
}

export type MailDeed = keyof UnseenOf
export type SendingStep = Extract<StepDefinition, { type: 'send_email' }>
export type AskingDefinition = Pick<AutomationDefinition, 'steps' | 'settings'>

/** Why nobody sees what becomes of a step's mail, and the domain that it is from. */
export type UnseenMail = UnseenOf & { domain: string }

export const sendsIn = ({ steps }: AskingDefinition): SendingStep[] =>
  steps.flatMap((step) => (step.type === 'send_email' ? [step] : []))

/** What nobody sees of some steps' mails, by their keys; of those of which all is seen there is nothing. */
export async function unseenAmong(
  { store: { read }, tracking }: UnseenDeps,
  accountId: string,
  steps: readonly SendingStep[],
): Promise<Map<string, UnseenMail>> {
  const unseen = new Map<string, UnseenMail>()
  for (const { key, config } of steps) {
    const { template, templateVersion, from, type = 'marketing' } = config
    const found = await findTemplate(read, accountId, template, templateVersion).catch(orNone)
    if (found === undefined) continue
    const sender = parseMailbox(from)?.domain ?? ''
    const domain = await findSenderDomain(read, accountId, sender)
    const mail = { domainId: domain?.id ?? '', html: found.html ?? '', type }
    const why = await unseenOf(read, mail, tracking)
    if (why.opened ?? why.clicked) unseen.set(key, Object.assign({ domain: sender }, why))
  }
  return unseen
}

/** Why nobody sees that any of the account's news is opened, or clicked in; undefined where it may be seen. */
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

/** Which mails a trial must not see opened, or clicked in. */
export function unseenIn(unseen: ReadonlyMap<string, UnseenMail>): UnseenMails {
  const keysOf = (deed: MailDeed) =>
    new Set([...unseen].flatMap(([key, of]) => (of[deed] === undefined ? [] : [key])))
  return { opened: keysOf('opened'), clicked: keysOf('clicked') }
}

/** A template that is not there is told elsewhere. */
function orNone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined
  throw error
}
