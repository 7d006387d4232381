import { findSenderDomain } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { findTemplate } from '../../templates/index.js'
import { type Switches, type UnseenOf, unseenOf, type WhyUnseen } from '../../tracking/index.js'
import type { StepOf } from '../definition/index.js'
import type { UnseenMails } from './simulation.js'

/** What says whether opens and clicks are seen; `tracking` undefined: nobody out there could ask for a pixel. */
export interface UnseenDeps {
  store: { read: Read }
  tracking: Switches | undefined
}

export type MailDeed = keyof UnseenOf

/** Why nobody sees what becomes of a step's mail, and the domain that it is from. */
export type UnseenMail = UnseenOf & { domain: string }

/** What somebody does with the mail of a step in a trial, and why nobody sees it. */
export interface UnseenDeed {
  step: string
  deed: MailDeed
  why: WhyUnseen
  domain: string
  /** Whether a click in the same mail is seen, so that the author may ask for that. */
  seesClicks: boolean
}

/** What nobody sees of some steps' mails, by their keys; steps of whose mails all is seen are left out. */
export async function unseenAmong(
  { store: { read }, tracking }: UnseenDeps,
  accountId: string,
  steps: readonly StepOf<'send_email'>[],
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

/** What is done in a trial with the mails of some steps, by their keys. */
export type DoneWith = Readonly<Record<MailDeed, { has(key: string): boolean }>>

/** What nobody sees of what is done. A trial by the page, by the API and by the command all ask here. */
export async function unseenDeeds(
  deps: UnseenDeps,
  accountId: string,
  steps: readonly StepOf<'send_email'>[],
  { opened, clicked }: DoneWith,
): Promise<UnseenDeed[]> {
  const asked = steps.filter(({ key }) => opened.has(key) || clicked.has(key))
  const unseen = await unseenAmong(deps, accountId, asked)
  const deedsOf = (deed: MailDeed, done: DoneWith[MailDeed]) =>
    asked.flatMap(({ key: step }): UnseenDeed[] => {
      const mail = unseen.get(step)
      const why = mail?.[deed]
      return mail === undefined || why === undefined || !done.has(step)
        ? []
        : [{ step, deed, why, domain: mail.domain, seesClicks: mail.clicked === undefined }]
    })
  return [...deedsOf('opened', opened), ...deedsOf('clicked', clicked)]
}

/** Which mails a trial must not see opened, or clicked in. */
export function unseenIn(unseen: readonly UnseenDeed[]): UnseenMails {
  const keysOf = (deed: MailDeed) =>
    new Set(unseen.flatMap((one) => (one.deed === deed ? [one.step] : [])))
  return { opened: keysOf('opened'), clicked: keysOf('clicked') }
}

/** Another check tells of a template that is missing. */
function orNone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined
  throw error
}
