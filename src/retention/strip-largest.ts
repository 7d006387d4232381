import { sql } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import { firstUuidAt, mailNumber, prepared, type Read } from '../store/index.js'
import type { RetentionDeps } from './slices.js'
import { countedBelow } from './state.js'
import { type StrippedMail, stripMails, withBody } from './strip.js'

// Reading the sizes of a page of mails takes a millisecond or two.
const mailsARead = 500
// In small steps, as the disk is checked in between: no more bodies are deleted than necessary.
const mailsAStep = 20

/**
 * Removes bodies from finished mails accepted before `until`, until `isEnough`: the oldest of the account that stores
 * most, so that the account that fills the disk makes room. Resolves with how many mails had some, and when the last
 * of them was accepted.
 */
export async function stripLargest(
  deps: RetentionDeps,
  {
    until,
    signal,
    isEnough,
  }: { until: number; signal: AbortSignal; isEnough: () => Promise<boolean> },
): Promise<{ gone: number; throughId: string }> {
  const before = firstUuidAt(until)
  const held = await heldByAccounts(deps.store.read, signal)
  const after = new Map<string, string>()
  let gone = 0
  let throughId = ''
  while (!signal.aborted && !(await isEnough())) {
    const largest = largestOf(held)
    if (largest === undefined) break
    const below = await countedBelow(deps.store.read)
    const page = { accountId: largest, after: after.get(largest) ?? '', before, below }
    const rows = await oldestOf(deps.store.read, { ...page, limit: mailsAStep })
    const last = rows.at(-1)
    if (last === undefined) {
      // The account has nothing more that may be deleted.
      held.delete(largest)
      continue
    }
    after.set(largest, last.id)
    const stripped = await stripMails(deps, 'bodies', rows, signal)
    gone += stripped
    if (stripped > 0 && last.id > throughId) throughId = last.id
    const freed = rows.reduce((sum, row) => sum + (row.isLive ? 0 : shareOf(row)), 0)
    held.set(largest, (held.get(largest) ?? 0) - freed)
    await nextTurn()
  }
  return { gone, throughId }
}

/** The account that holds most, if any holds anything. */
function largestOf(held: ReadonlyMap<string, number>): string | undefined {
  let largest: string | undefined
  for (const [accountId, bytes] of held) {
    if (largest === undefined || bytes > (held.get(largest) ?? 0)) largest = accountId
  }
  return largest
}

/**
 * The rough size of each account's files, templates and mails; read in pages, as there may be millions of
 * mails.
 */
async function heldByAccounts(read: Read, signal: AbortSignal): Promise<Map<string, number>> {
  const held = new Map<string, number>()
  const add = (accountId: string, bytes: number) =>
    held.set(accountId, (held.get(accountId) ?? 0) + bytes)
  const counted = await read.selectFrom('stored_bytes').selectAll().execute()
  for (const { account_id, contents, templates, campaigns } of counted) {
    add(account_id, contents + templates + campaigns)
  }
  for (let after = ''; !signal.aborted; ) {
    const rows = await sizesAfter(read, { after, limit: mailsARead })
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.id
    for (const row of rows) add(row.accountId, row.bytes / Math.max(1, row.uses))
    await nextTurn()
  }
  return held
}

/** A mail's share of its body's size, as mails of a campaign share one. */
const shareOf = ({ bytes, uses }: SizedMail) => bytes / Math.max(1, uses)

interface SizedMail extends StrippedMail {
  /** How many mails have the body, as far as they are counted. */
  uses: number
}

const usesOf = sql<number>`coalesce((select uses from body_uses
  where body_uses.body_id = emails.body_id), 1)`

/** By the index of an account's mails, which has the ids; all else by keys. */
const oldestOf = prepared<
  { accountId: string; after: string; before: string; below: number; limit: number },
  SizedMail
>((db, { accountId, after, before, below, limit }) =>
  withBody(db)
    .select(usesOf.as('uses'))
    .where('emails.account_id', '=', accountId)
    .where('emails.body_id', 'is not', null)
    .where('emails.id', '>', after)
    .where('emails.id', '<', before)
    .where(mailNumber, '<', below)
    .orderBy('emails.id')
    .limit(limit),
)

const sizesAfter = prepared<
  { after: string; limit: number },
  { id: string; accountId: string; bytes: number; uses: number }
>((db, { after, limit }) =>
  db
    .selectFrom('emails')
    .leftJoin('bodies', 'bodies.id', 'emails.body_id')
    .select(['emails.id', 'emails.account_id as accountId', usesOf.as('uses')])
    .select(
      sql<number>`coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)`.as('bytes'),
    )
    .where('emails.id', '>', after)
    .orderBy('emails.id')
    .limit(limit),
)
