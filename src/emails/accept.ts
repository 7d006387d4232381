import {
  type AccountBilling,
  checkSending,
  type HandingKey,
  refuseBeyondStorage,
} from '../billing/index.js'
import { isoTime } from '../clock/index.js'
import { bytesToStore } from '../contents/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import type { Mailbox } from '../mime/index.js'
import type { Tx } from '../store/index.js'
import { type Announcement, acceptDrafts } from './accept-together.js'
import { makeAttachmentReader } from './attachments.js'
import type { EmailDeps } from './deps.js'
import {
  draftEmail,
  FaultyDraft,
  type MailDraft,
  type OfRequest,
  type SendRequest,
} from './prepare.js'
import type { SendInput } from './send-body.js'
import { standingOf } from './standing.js'

/** How mail is taken in that is not a client's plain send. */
export type HowAccepted = Pick<Partial<OfRequest>, 'isConfirmation' | 'isTest'>

export interface AcceptedEmail {
  id: string
  /** ISO 8601; only for a mail that leaves later. */
  scheduledAt: string | undefined
}

/** Runs in the mail's transaction, so that its writes are committed with the mail or not at all. */
export type Alongside<T> = (tx: Tx, accepted: T) => Promise<void>

/** Takes one mail in: resolves once it and all its deliveries are on disk. */
export async function acceptEmail(
  deps: EmailDeps,
  accountId: string,
  input: SendRequest,
  alongside: Alongside<AcceptedEmail> = async () => {},
  { by, ...how }: HowAccepted & { by?: HandingKey } = {},
): Promise<AcceptedEmail> {
  const now = deps.clock.now()
  const { billing, senders } = await standingOf(deps, accountId, input.type)
  const draft = await draftEmail(deps, billing, input, now, { senders, ...how })
  await refuseContents(deps, billing, [draft])
  const { id, scheduled_at: at } = draft.row
  const accepted = { id, scheduledAt: at === null ? undefined : isoTime(at) }
  const recipients = announce(
    deps,
    await acceptDrafts(deps, {
      alongside: (tx) => alongside(tx, accepted),
      accountId,
      drafts: [draft],
      isBatch: false,
      now,
      by,
    }),
  )
  const what = { emailId: id, accountId, recipients: recipients.length, ...scheduled(accepted) }
  deps.log.info({ ...what, ...warned(recipients, [draft]) }, 'Accepted')
  return accepted
}

/** Throws a 403 if these mails' files would take the account above its storage limit. */
async function refuseContents(
  { store: { read } }: EmailDeps,
  billing: AccountBilling,
  drafts: readonly MailDraft[],
): Promise<void> {
  if (billing.plan.storedBytes === null) return
  const contents = drafts.flatMap(({ raw, attachments }) =>
    raw === undefined ? attachments.map(({ content }) => content) : [raw.body],
  )
  if (contents.length === 0) return
  const more = await bytesToStore(read, billing.accountId, contents)
  await refuseBeyondStorage(read, billing, more)
}

/** Counts the new deliveries and rings for them; returns the mails' recipients. */
function announce(deps: EmailDeps, { recipients, due }: Announcement): readonly Mailbox[] {
  deps.backlog.change(recipients.length)
  deps.ring(due)
  return recipients
}

/** For the log: warnings about accepted mails, without addresses. */
function warned(
  recipients: readonly Mailbox[],
  drafts: readonly MailDraft[],
): { warnings?: string[] } {
  const warnings = new Set(recipients.flatMap(({ warning }) => warning ?? []))
  for (const draft of drafts) for (const warning of draft.warnings) warnings.add(warning)
  return warnings.size > 0 ? { warnings: [...warnings] } : {}
}

const scheduled = ({ scheduledAt }: AcceptedEmail) =>
  scheduledAt === undefined ? {} : { scheduledAt }

interface BatchInput {
  /** Mails, or in a faulty mail's place its fault; emptied once they are drafted, as each may hold much. */
  items: (SendInput | ApiError)[]
  /** Each of the mails has these beside its own; they are given once and decoded once. */
  attachments?: readonly unknown[] | undefined
  /** Absent: no key handed them in. */
  by?: HandingKey
  /** They came by a test key. */
  isTest?: boolean
  /** Called once nothing of the mails is held except what waits for the disk. */
  letGo?: () => void
}

/**
 * Takes in all the mails or none: every item is checked first, and one 422 names all faulty ones, including
 * those that their reader found faulty. Resolves with the ids in input order once everything is on disk.
 */
export async function acceptBatch(
  deps: EmailDeps,
  accountId: string,
  { items, attachments, by, letGo, isTest = false }: BatchInput,
  alongside: Alongside<{ ids: string[] }> = async () => {},
): Promise<{ ids: string[] }> {
  const now = deps.clock.now()
  const isMarketing = items.some((item) => 'type' in item && item.type === 'marketing')
  const type = isMarketing ? 'marketing' : 'transactional'
  const { billing, senders } = await standingOf(deps, accountId, type)
  // A refusal that holds for the whole batch is not told item by item.
  checkSending(billing, 'transactional')
  const reader = makeAttachmentReader(deps, accountId)
  const shared = { senders, reader, shared: reader.check(attachments), isTest }
  const drafts: MailDraft[] = []
  const errors: { index: number; error: string }[] = []
  for (const [index, item] of items.entries()) {
    try {
      if (item instanceof ApiError) throw item
      drafts.push(await draftEmail(deps, billing, item, now, shared))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      const faults = error instanceof FaultyDraft ? error.faults : [error]
      errors.push({ index, error: faults.map(messageOf).join('; ') })
    }
  }
  if (errors.length > 0) {
    const message = `${errors.length} of ${items.length} emails are invalid; nothing was queued`
    throw new ApiError('validation_error', message, { status: 422, fields: { errors } })
  }
  items.length = 0
  await refuseContents(deps, billing, drafts)
  const accepted = { ids: drafts.map((draft) => draft.row.id) }
  const recipients = announce(
    deps,
    await acceptDrafts(deps, {
      alongside: (tx) => alongside(tx, accepted),
      accountId,
      drafts,
      isBatch: true,
      now,
      by,
      letGo,
    }),
  )
  const what = { accountId, emails: accepted.ids.length, recipients: recipients.length }
  deps.log.info({ ...what, ...warned(recipients, drafts) }, 'Batch accepted')
  return accepted
}
