import {
  type AccountBilling,
  checkSending,
  countHandedIn,
  countTogether,
  type HandedInCount,
  type HandingKey,
  readBilling,
} from '../billing/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import type { Mailbox } from '../mime/index.js'
import { isRemote, isTestId, type Tx } from '../store/index.js'
import { brakeSurge, type SeenOfHour } from '../surges/index.js'
import { findTopic } from '../topics/index.js'
import { type EmailDeps, oncePerDeps } from './deps.js'
import { watchAccount } from './handing-key.js'
import { insertEmails, ringOf } from './insert.js'
import { enterMessageIds } from './message-ids.js'
import { type MailDraft, type PreparedEmail, prepareEmails } from './prepare.js'
import { enterIfLate, neverMailed } from './recipient-index.js'
import { noSenders, type Senders, verifiedDomainId } from './sender.js'

/** What one request hands in, to be accepted as a whole. */
export interface Acceptance {
  accountId: string
  drafts: readonly MailDraft[]
  isBatch: boolean
  now: number
  /** Absent: no key handed them in. */
  by?: HandingKey | undefined
  /** Runs in the same transaction, after the mails are written. */
  alongside: (tx: Tx) => Promise<void>
  /** Called when the drafts are released. */
  letGo?: (() => void) | undefined
}

/** The recipients of a request's mails, and what the outbound threads have to be told. */
export interface Announcement {
  recipients: readonly Mailbox[]
  due: readonly StreamDue[]
}

/**
 * Accepts mails together with those of other waiting requests with the same `deps`. Resolves once they are on
 * disk, and rejects with why this request is refused. The drafts' contents are released before that.
 */
export function acceptDrafts(deps: EmailDeps, request: Acceptance): Promise<Announcement> {
  return gathering(deps)(request)
}

/**
 * Requests that arrive together are written in one transaction and share its fsync, which is most
 * of what a send costs.
 */
const gathering = oncePerDeps((deps) =>
  deps.store.gather<Acceptance, Announcement>(
    (tx, requests) => writeAll(deps, tx, requests),
    weightOf,
    letGo,
  ),
)

/**
 * Releases committed contents, which are most of what a request holds. When batches lived until the disk had them, V8
 * moved a third of them to its old generation, and so marked that generation ten times a second.
 */
function letGo(request: Acceptance): void {
  // Whoever read the attachments holds them until the answer.
  if (request.drafts.every(({ attachments }) => attachments.length === 0)) request.letGo?.()
  for (const draft of request.drafts) {
    draft.html = ''
    draft.text = null
    draft.attachments = []
  }
}

// A weight of 1 is about the cost of a mail with a body of 8 KB.
const recipientsAWeight = 8
const bytesAWeight = 16_384

/**
 * A transaction is bounded by its weight and not by its number: a mail with 50 recipients or ten
 * megabytes holds the writer for longer.
 */
function weightOf({ drafts }: Acceptance): number {
  let weight = 0
  for (const { html, text, attachments, raw, mailboxes } of drafts) {
    const carried = attachments.reduce((sum, { content }) => sum + content.sizeBytes, 0)
    const bytes = html.length + (text?.length ?? 0) + carried + (raw?.body.sizeBytes ?? 0)
    weight += 1 + mailboxes.length / recipientsAWeight + bytes / bytesAWeight
  }
  return weight
}

/**
 * Writes the mails that are not refused; resolves with each request's mails, or why it is refused.
 */
async function writeAll(
  deps: EmailDeps,
  tx: Tx,
  requests: readonly Acceptance[],
): Promise<(Announcement | ApiError)[]> {
  const check = makeCheckAgain(deps)
  const outcomes = new Map<Acceptance, Announcement | ApiError>()
  const sound: (Acceptance & { request: Acceptance; billing: AccountBilling })[] = []
  for (const request of requests) {
    const billing = await check(tx, request).catch(refusalOf)
    if (billing instanceof ApiError) outcomes.set(request, billing)
    else sound.push({ request, billing, ...request })
  }
  const prepared = await prepareEmails(
    tx,
    sound.flatMap(({ drafts }) => drafts),
  )
  const counts = sound.map((one) => {
    const emails = prepared.splice(0, one.drafts.length)
    // A mail for each recipient.
    return {
      emails,
      mails: emails.reduce((sum, { recipients }) => sum + recipients.length, 0),
      // All mails of a request come by one key.
      isTest: isTestId(emails[0]?.row.id ?? ''),
      ...one,
    }
  })
  // Test mail goes nowhere, and is not counted with mail that does.
  const handedIn = await countHandedIn(
    tx,
    counts.filter(({ isTest }) => !isTest),
  )
  const within = counts.filter((count) => !handedIn.refusals.has(count))
  const refusals = await countTogether(tx, within)
  if (refusals.size > 0) await handedIn.takeBack(tx, [...refusals.keys()])
  const accepted = within.filter((count) => !refusals.has(count))
  await brake(deps, tx, { accepted, handedIn })
  for (const count of counts) {
    const refusal = handedIn.refusals.get(count) ?? refusals.get(count)
    outcomes.set(count.request, refusal ?? announcementOf(count.emails))
  }
  const emails = accepted.map((count) => count.emails)
  await insertEmails(deps, tx, emails)
  await enterIfLate(tx, deps.clock, emails.flat())
  await enterMessageIds(tx, emails.flat())
  // A request whose write throws is found by halving, and is refused alone. Writes that are made at
  // once go to a server as one statement.
  if (isRemote(tx)) await Promise.all(accepted.map(({ alongside }) => alongside(tx)))
  else for (const { alongside } of accepted) await alongside(tx)
  return requests.map((request) => outcomes.get(request) ?? announcementOf([]))
}

const remembered = oncePerDeps(() => new Map<string, SeenOfHour>())

type Counted = Acceptance & { billing: AccountBilling; emails: PreparedEmail[]; isTest: boolean }

/**
 * Marks the mails whose deliveries are to be held because they belong to a surge. It costs most accounts one
 * comparison.
 */
async function brake(
  deps: EmailDeps,
  tx: Tx,
  { accepted, handedIn }: { accepted: readonly Counted[]; handedIn: Pick<HandedInCount, 'hours'> },
): Promise<void> {
  const settings = deps.surges
  if (settings.minimum === 0) return
  for (const [accountId, hour] of handedIn.hours) {
    const least = settings.minimum / 2
    const own = accepted.filter((one) => one.accountId === accountId && !one.isTest)
    const [first] = own
    if (first === undefined || (first.billing.surgeId === null && hour.mails < least)) continue
    watchAccount(deps, accountId)
    const requests = own.map(({ by, emails }) => ({
      by,
      recipients: emails.map(({ recipients }) => recipients),
    }))
    const { billing, now } = first
    const using = { settings, neverMailed, ids: deps.store.ids, remembered: remembered(deps) }
    const held = await brakeSurge(tx, using, { billing, hour, now, requests })
    if (held !== undefined)
      for (const { emails } of own) for (const email of emails) email.held = held
  }
}

const announcementOf = (emails: readonly PreparedEmail[]): Announcement => ({
  recipients: emails.flatMap(({ recipients }) => recipients),
  due: ringOf(emails),
})

/**
 * A refusal belongs to its own request; anything else fails the whole transaction and is thrown.
 */
function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  throw error
}

/**
 * Checks again, in the write, what may have changed since mails were checked: the account may be stopped, the
 * domain deleted, the topic archived. Throws as `draftEmail` does, and resolves with the account's present
 * state. Each look-up is by a key, once for all mails that are written together.
 */
function makeCheckAgain({ plans }: Pick<EmailDeps, 'plans'>) {
  const accounts = new Map<string, AccountAgain>()
  return async (tx: Tx, { accountId, drafts }: Acceptance): Promise<AccountBilling> => {
    const account = accounts.get(accountId) ?? {
      billing: await readBilling(tx, plans, accountId),
      senders: noSenders(),
      topics: new Set(),
    }
    accounts.set(accountId, account)
    const { billing, senders, topics } = account
    for (const { row, sender } of drafts) {
      checkSending(billing, row.type)
      // A domain that was deleted and added again has other keys.
      row.domain_id =
        senders.known.get(sender.domain)?.id ??
        (await verifiedDomainId(tx, accountId, sender.domain, senders))
    }
    for (const { row } of drafts) {
      const { topic_id: id } = row
      if (id === null || topics.has(id)) continue
      await findTopic(tx, accountId, id)
      topics.add(id)
    }
    return billing
  }
}

/** What was found about an account, for its next requests. */
interface AccountAgain {
  billing: AccountBilling
  senders: Senders
  topics: Set<string>
}
