import { type AccountBilling, checkSending, countTogether, readBilling } from '../billing/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import type { EmailDeps } from './deps.js'
import { insertEmails } from './insert.js'
import { type MailDraft, type PreparedEmail, prepareEmails } from './prepare.js'
import { enterIfLate } from './recipient-index.js'
import { type Senders, verifiedDomainId } from './sender.js'

/** What one request hands in, to be accepted as a whole. */
export interface Acceptance {
  accountId: string
  drafts: readonly MailDraft[]
  isBatch: boolean
  now: number
  /** Runs in the same transaction, after the mails are written. */
  alongside: (tx: Tx) => Promise<void>
}

type Accept = (request: Acceptance) => Promise<readonly PreparedEmail[]>

const ways = new WeakMap<EmailDeps, Accept>()

/**
 * Accepts mails, together with those of other requests with the same `deps` that wait: resolves once they are on
 * disk, and rejects with why these are refused.
 */
export function acceptDrafts(
  deps: EmailDeps,
  request: Acceptance,
): Promise<readonly PreparedEmail[]> {
  const way = ways.get(deps) ?? openWay(deps)
  return way(request)
}

function openWay(deps: EmailDeps): Accept {
  const way = deps.store.gather<Acceptance, readonly PreparedEmail[]>(
    (tx, requests) => writeAll(deps, tx, requests),
    weightOf,
  )
  ways.set(deps, way)
  return way
}

// About what a mail with a body of 8 KB takes.
const recipientsAWeight = 8
const bytesAWeight = 16_384

function weightOf({ drafts }: Acceptance): number {
  let weight = 0
  for (const { html, text, attachments, raw, mailboxes } of drafts) {
    const carried = attachments.reduce((sum, { content }) => sum + content.sizeBytes, 0)
    const bytes = html.length + (text?.length ?? 0) + carried + (raw?.body.sizeBytes ?? 0)
    weight += 1 + mailboxes.length / recipientsAWeight + bytes / bytesAWeight
  }
  return weight
}

/** A request that nothing speaks against but, perhaps, its account's caps. */
interface Checked extends Acceptance {
  emails: readonly PreparedEmail[]
  billing: AccountBilling
  /** To be counted: a mail for each recipient. */
  mails: number
}

/** Writes what is not refused; of each request its mails, or why it is refused. */
async function writeAll(
  deps: EmailDeps,
  tx: Tx,
  requests: readonly Acceptance[],
): Promise<(readonly PreparedEmail[] | ApiError)[]> {
  const prepared = await prepareEmails(
    tx,
    requests.flatMap(({ drafts }) => drafts),
  )
  const check = makeCheckAgain(deps)
  const checked: (Checked | ApiError)[] = []
  for (const request of requests) {
    const emails = prepared.splice(0, request.drafts.length)
    const billing = await check(tx, request, emails).catch(refusalOf)
    if (billing instanceof ApiError) {
      checked.push(billing)
      continue
    }
    const mails = emails.reduce((sum, { recipients }) => sum + recipients.length, 0)
    checked.push({ ...request, emails, billing, mails })
  }
  const sound = checked.flatMap((one) => (one instanceof ApiError ? [] : one))
  const refusals = await countTogether(tx, sound)
  const counted = sound.filter((one) => !refusals.has(one))
  await insertEmails(
    deps,
    tx,
    counted.map(({ emails }) => emails),
  )
  await enterIfLate(
    tx,
    deps.clock,
    counted.flatMap(({ emails }) => emails),
  )
  // One that throws is found by halving, and is refused alone.
  for (const { alongside } of counted) await alongside(tx)
  return checked.map((one) => (one instanceof ApiError ? one : (refusals.get(one) ?? one.emails)))
}

function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  throw error
}

/**
 * Asks again, in the write, what may have changed since mails were checked: the account be stopped, the domain
 * deleted, the topic archived. Throws as `draftEmail` does, and resolves with the account as it stands. Each
 * look-up is by a key, once for all mails that are written together.
 */
function makeCheckAgain({ plans }: Pick<EmailDeps, 'plans'>) {
  const accounts = new Map<string, { billing: AccountBilling; senders: Senders }>()
  const topics = new Set<string>()
  return async (
    tx: Tx,
    { accountId, drafts }: Acceptance,
    emails: readonly PreparedEmail[],
  ): Promise<AccountBilling> => {
    const account = accounts.get(accountId) ?? {
      billing: await readBilling(tx, plans, accountId),
      senders: new Map(),
    }
    accounts.set(accountId, account)
    for (const [i, { row }] of emails.entries()) {
      checkSending(account.billing, row.type)
      // Deleted and added again, it has other keys.
      row.domain_id = await verifiedDomainId(
        tx,
        accountId,
        drafts[i]?.sender.domain ?? '',
        account.senders,
      )
    }
    for (const {
      row: { topic_id: id },
    } of emails) {
      if (id === null || topics.has(id)) continue
      await findTopic(tx, accountId, id)
      topics.add(id)
    }
    return account.billing
  }
}
