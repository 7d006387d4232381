import { type Selectable, sql } from 'kysely'
import { type Plans, stoppedBy } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { ApiError, OperatorError } from '../errors/index.js'
import type { BroadcastRow, Read, Store } from '../store/index.js'
import type { Renderer } from '../templates/index.js'

export interface BroadcastDeps {
  store: Store
  clock: Clock
  plans: Plans
  renderer: Renderer
  /** There is a campaign to expand; a lost call costs some seconds. */
  expand: () => void
}

export type Broadcast = Selectable<BroadcastRow>
/** A campaign with its mails' attachments, as the column of their body has them. */
export type BroadcastDetail = Broadcast & { attachments: string | null }
export type BroadcastStatus = BroadcastRow['status']

/** The account's campaign; throws a 404. */
export async function findBroadcast(read: Read, accountId: string, id: string): Promise<Broadcast> {
  const row = await read
    .selectFrom('broadcasts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id.toLowerCase())
    .executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', 'The account has no campaign with this id')
  return row
}

/** The account's campaign with its mails' attachments; throws a 404. */
export async function findBroadcastDetail(
  read: Read,
  accountId: string,
  id: string,
): Promise<BroadcastDetail> {
  const broadcast = await findBroadcast(read, accountId, id)
  const body = await read
    .selectFrom('bodies')
    .select('attachments')
    .where('id', '=', broadcast.body_id)
    .executeTakeFirst()
  return { ...broadcast, attachments: body?.attachments ?? null }
}

/** A campaign of any account, for operators. */
export async function findAnyBroadcast(read: Read, id: string): Promise<Broadcast> {
  const row = await read
    .selectFrom('broadcasts')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .executeTakeFirst()
  if (row !== undefined) return row
  throw new OperatorError(`No campaign ${id}; 'posthorn broadcast list' shows those of an account`)
}

/** The paused campaigns of one account or of all; other campaigns of a stopped account are not among them. */
export async function listPaused(read: Read, accountId?: string): Promise<Broadcast[]> {
  return await read
    .selectFrom('broadcasts')
    .selectAll()
    .where('status', '=', 'paused')
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .orderBy('id')
    .execute()
}

/**
 * The campaigns of the index `broadcasts_unfinished`, in its own words: SQLite uses a partial index only where its
 * condition is part of the query, and a bound value hides that.
 */
export const isUnfinished = sql<boolean>`status in ('scheduled', 'sending')`

/** Those of `broadcasts` whose account may send; the others wait while their account is stopped. */
export async function ofFreeAccounts(read: Read, broadcasts: readonly Broadcast[]) {
  const stops = await Promise.all(
    broadcasts.map(({ account_id }) => stoppedBy(read, account_id, 'marketing')),
  )
  return broadcasts.filter((_, i) => stops[i] === undefined)
}

/** An account's campaigns, newest first (UUIDv7), `limit` of them older than `before`. */
export async function listBroadcasts(
  read: Read,
  accountId: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Broadcast[]> {
  return await read
    .selectFrom('broadcasts')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** The content of a campaign, in Liquid; empty once it is stripped. */
export async function htmlOf(read: Read, { body_id }: Broadcast): Promise<string> {
  const row = await read
    .selectFrom('bodies')
    .select('html')
    .where('id', '=', body_id)
    .executeTakeFirst()
  return row?.html ?? ''
}

/**
 * An account's campaigns in some states, newest first, `limit` of them older than `before`; each state is one search.
 */
export async function listBroadcastsOf(
  read: Read,
  accountId: string,
  statuses: readonly BroadcastStatus[],
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Broadcast[]> {
  const found: Broadcast[] = []
  for (const status of statuses) {
    const rows = await read
      .selectFrom('broadcasts')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('status', '=', status)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    found.push(...rows)
  }
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

/** How many campaigns of an account have one of these states, counted up to `most`. */
export async function countBroadcastsOf(
  read: Read,
  accountId: string,
  statuses: readonly BroadcastStatus[],
  most: number,
): Promise<number> {
  let found = 0
  for (const status of statuses) {
    const rows = await read
      .selectFrom('broadcasts')
      .select('id')
      .where('account_id', '=', accountId)
      .where('status', '=', status)
      .limit(most - found)
      .execute()
    found += rows.length
    if (found >= most) break
  }
  return found
}
