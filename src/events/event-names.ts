import { type Clock, type Repeating, repeat } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { holds } from '../nodes/index.js'
import {
  idsIn,
  isPassing,
  type Read,
  type Store,
  sinceCommit,
  storedJson,
  type Tx,
} from '../store/index.js'

/** A name by which events of contacts came to an account. */
export interface EventName {
  name: string
  count: number
  lastAt: number
  /** The payload of the last event; undefined if it is no longer kept. */
  sample: unknown
}

// As many as an account's page and forms can offer; more names are a mistake of its application.
const mostNames = 1_000
// Reading them takes some milliseconds, and writing takes less.
const rowsASlice = 1_000
const everyMs = 1_000
// Between slices others have their turn.
const restMs = 20
const afterFaultMs = 30_000

/**
 * Counts the next events of contacts by their names, and stores its position in the same transaction: each event is
 * counted once, wherever the process dies. Resolves with whether there may be more. For one thread alone.
 */
export async function nameEvents(store: Store, limit = rowsASlice): Promise<boolean> {
  const { event_id: from } = await store.read
    .selectFrom('event_names_through')
    .select('event_id')
    .executeTakeFirstOrThrow()
  const rows = await store.read
    .selectFrom('automation_events')
    .select(['id', 'account_id', 'name', 'at'])
    .where('id', '>', from)
    .orderBy('id')
    .limit(limit)
    .execute()
  const last = rows.at(-1)
  if (last === undefined) return false
  const named = new Map<string, Named>()
  for (const { id, account_id: accountId, name, at } of rows) {
    const key = `${accountId} ${name}`
    const count = (named.get(key)?.count ?? 0) + 1
    named.set(key, { accountId, name, count, lastAt: at, sampleId: id })
  }
  await store.byRow(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('event_names_through')
      .set({ event_id: last.id })
      // A predecessor that was given up may have moved the position: then reading starts again from
      // there.
      .where('event_id', '=', from)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows !== 1n) return
    for (const one of named.values()) await count(tx, one)
  })
  return rows.length === limit
}

interface Named {
  accountId: string
  name: string
  count: number
  lastAt: number
  sampleId: number
}

async function count(tx: Tx, { accountId, name, count, lastAt, sampleId }: Named): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('event_names')
    .set((eb) => ({ count: eb('count', '+', count), last_at: lastAt, sample_id: sampleId }))
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) return
  const { names } = await tx
    .selectFrom('event_names')
    .select((eb) => eb.fn.countAll<number>().as('names'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (names >= mostNames) return
  await tx
    .insertInto('event_names')
    .values({ account_id: accountId, name, count, last_at: lastAt, sample_id: sampleId })
    .execute()
}

/** Keeps the names up to date, slice by slice. For a thread that nobody waits for. */
export function startEventNames({
  store,
  clock,
  log,
}: {
  store: Store
  clock: Clock
  log: Log
}): Repeating {
  const nameNew = sinceCommit(store, () => nameEvents(store))
  return repeat(clock, async () => {
    if (!holds(store.node, 'figures')) return everyMs
    try {
      return (await nameNew()) ? restMs : everyMs
    } catch (error) {
      if (isPassing(error)) return everyMs
      log.error({ error }, 'The names of events stand still: a slice of events cannot be counted')
      return afterFaultMs
    }
  })
}

/**
 * Runs that somebody starts by hand begin with such an event: nothing listens for it, and the list of names
 * leaves it out.
 */
export const startedByHand = { crowd: '$backfill', one: '$started' } as const

/** The names of an account's events in their order, after a given one. */
export async function listEventNames(
  read: Read,
  accountId: string,
  { limit, after = '' }: { limit: number; after?: string | undefined },
): Promise<EventName[]> {
  const rows = await read
    .selectFrom('event_names')
    .leftJoin('automation_events', 'automation_events.id', 'event_names.sample_id')
    .select(['event_names.name', 'count', 'last_at', 'payload'])
    .where('event_names.account_id', '=', accountId)
    .where('event_names.name', '>', after)
    .where('event_names.name', 'not in', Object.values(startedByHand))
    .orderBy('event_names.name')
    .limit(limit)
    .execute()
  return rows.map(({ name, count, last_at: lastAt, payload }) => ({
    name,
    count,
    lastAt,
    sample: payload === null ? undefined : storedJson(payload),
  }))
}

/** Which of some names ever came to an account. */
export async function namesAmong(
  read: Read,
  accountId: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await read
    .selectFrom('event_names')
    .select('name')
    .where('account_id', '=', accountId)
    .where('name', 'in', idsIn(names, 'text'))
    .execute()
  return new Set(rows.map(({ name }) => name))
}
