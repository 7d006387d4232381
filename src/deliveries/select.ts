import { domainToASCII } from 'node:url'
import type { SelectQueryBuilder } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import { type Clock, pause } from '../clock/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import {
  firstSerialAt,
  type HeldBy,
  idsIn,
  ofAnyNode,
  type QueueClass,
  queueClass,
  type Read,
  type Store,
  type Tables,
  writeApart,
} from '../store/index.js'
import type { Changes } from './hold.js'

/** Which waiting deliveries are meant: those that every given field fits. */
export interface QueueFilter {
  ids?: readonly number[] | undefined
  emailId?: string | undefined
  accountId?: string | undefined
  /** The recipient's domain as A-label, lower case. */
  lane?: string | undefined
  class?: QueueClass | undefined
  /** Accepted before this time, in milliseconds. */
  acceptedBefore?: number | undefined
  held?: boolean | undefined
  heldBy?: HeldBy | undefined
  notHeldBy?: HeldBy | undefined
  /** The campaign to which they belong. */
  broadcastId?: string | undefined
}

/**
 * The lane of a domain as somebody has typed it: lanes are domains as A-labels in lower case (RFC 5890 §2.3.2.1).
 * Undefined for what is no domain.
 */
export const laneNamed = (given: string): string | undefined =>
  domainToASCII(given.trim()).toLowerCase() || undefined

type QueueQuery<O> = SelectQueryBuilder<Tables, 'queue', O>

/** Narrows a query on `queue` (which may join other tables) to what the filter means. */
export function fitting<O, Q extends QueueQuery<O>>(query: Q, filter: QueueFilter): Q {
  let q: QueueQuery<O> = query
  if (filter.ids !== undefined) q = q.where('queue.id', 'in', idsIn(filter.ids, 'integer'))
  if (filter.emailId !== undefined) q = q.where('queue.email_id', '=', filter.emailId)
  if (filter.accountId !== undefined) q = q.where('queue.account_id', '=', filter.accountId)
  if (filter.lane !== undefined) q = q.where(ofAnyNode).where('queue.lane', '=', filter.lane)
  if (filter.class !== undefined) q = q.where('queue.class', '=', filter.class)
  if (filter.acceptedBefore !== undefined) {
    q = q.where('queue.id', '<', firstSerialAt(filter.acceptedBefore))
  }
  if (filter.held !== undefined) {
    q = q.where('queue.held_at', filter.held ? 'is not' : 'is', null)
  }
  if (filter.heldBy !== undefined) q = q.where('queue.held_by', '=', filter.heldBy)
  const { notHeldBy } = filter
  if (notHeldBy !== undefined) {
    q = q.where(({ or, eb }) =>
      or([eb('queue.held_by', 'is', null), eb('queue.held_by', '!=', notHeldBy)]),
    )
  }
  if (filter.broadcastId !== undefined) {
    const { broadcastId } = filter
    q = q
      .where('queue.class', '=', queueClass.campaign)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('emails')
            .select('emails.id')
            .whereRef('emails.id', '=', 'queue.email_id')
            .where('emails.broadcast_id', '=', broadcastId),
        ),
      )
  }
  return q as Q
}

/** The recipients' domains of these deliveries, without those of held ones. */
export async function lanesOf(read: Read, ids: readonly number[]): Promise<string[]> {
  const rows = await read
    .selectFrom('queue')
    .select('lane')
    .distinct()
    .where('id', 'in', idsIn(ids, 'integer'))
    .where('held_at', 'is', null)
    .execute()
  return rows.map(({ lane }) => lane)
}

// Writing so many takes some ms; in between others have their turn. Another process only gets it when nobody holds the
// database for a while: a writer that finds it busy looks again every 25 ms (`store/sqlite/group-commit.ts`).
const idsPerWrite = 500
const breatheMs = 30
// One look through the table serves many writes.
const idsPerRead = 20_000
// For a campaign, which clients pause at a thread that others wait for: looking at so many rows takes some
// milliseconds, whoever's mails they are. One statement would pass over a million mails of other campaigns.
const rowsPerLook = 2_000

/**
 * Changes all that fits, in short transactions. `change` gets the ids and must look again whether each is still as it
 * wants it; where it says 'over', nothing more is changed. Deliveries that come meanwhile may be left out. A delivery
 * that cannot be changed does not keep others from it: an OperatorError tells of it at the end.
 */
export async function changeFitting(
  { store, clock }: { store: Store; clock: Clock },
  filter: QueueFilter,
  change: (tx: Read, ids: readonly number[], now: number) => Promise<Changes | 'over'>,
  onProgress: (seen: number) => void = () => {},
): Promise<Changes & { seen: number }> {
  const total = { seen: 0, changed: 0, inFlight: 0 }
  const unchanged: { item: number; error: unknown }[] = []
  for (let after = -1; ; ) {
    const { rows, through } = await nextFitting(store.read, filter, after)
    for (let start = 0; start < rows.length; start += idsPerWrite) {
      if (total.seen > 0) await pause(clock, breatheMs)
      const ids = rows.slice(start, start + idsPerWrite).map(({ id }) => id)
      const { results, faults, left, cause } = await writeApart(store.write, ids, (tx, some) =>
        change(tx, some, clock.now()),
      )
      if (left.length > 0) throw cause
      unchanged.push(...faults)
      total.seen += ids.length
      for (const result of results) {
        if (result === 'over') return total
        total.changed += result.changed
        total.inFlight += result.inFlight
      }
      onProgress(total.seen)
    }
    if (through === undefined) break
    after = through
  }
  const [fault] = unchanged
  if (fault === undefined) return total
  const others = unchanged.length === 1 ? '' : ` and ${unchanged.length - 1} others`
  throw new OperatorError(
    `Delivery ${fault.item}${others} cannot be changed, all else is (${total.changed}): ${messageOf(fault.error)}`,
    { cause: fault.error },
  )
}

/** The next deliveries that fit, and the last one that was looked at; undefined: there are no more. */
async function nextFitting(
  read: Read,
  filter: QueueFilter,
  after: number,
): Promise<{ rows: { id: number }[]; through: number | undefined }> {
  const rest = fitting(read.selectFrom('queue').select('queue.id'), filter)
    .where('queue.id', '>', after)
    .orderBy('queue.id')
  if (filter.broadcastId === undefined) {
    const rows = await rest.limit(idsPerRead).execute()
    return { rows, through: rows.length < idsPerRead ? undefined : rows.at(-1)?.id }
  }
  const end = await read
    .selectFrom('queue')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .offset(rowsPerLook - 1)
    .limit(1)
    .executeTakeFirst()
  const rows = await rest
    .$if(end !== undefined, (query) => query.where('queue.id', '<=', end?.id ?? 0))
    .execute()
  await nextTurn()
  return { rows, through: end?.id }
}
