import { sql } from 'kysely'
import { type Clock, dayMs } from '../clock/index.js'
import {
  cell,
  type IdempotencyKeyRow,
  isRemote,
  lookUpTogether,
  prepared,
  rowsOf,
  type Store,
  type Tx,
} from '../store/index.js'

/** How long an `Idempotency-Key` is remembered. */
export const keyLifetimeMs = dayMs

/** Finds the answer under a key within its time; look-ups of one turn share a query. */
export function makeFindAnswer({ store, clock }: { store: Store; clock: Clock }) {
  return lookUpTogether(async (asked: readonly { accountId: string; key: string }[]) => {
    const since = clock.now() - keyLifetimeMs
    const [first] = asked
    if (first !== undefined && asked.length === 1) {
      return [(await answerUnder(store.read, { since, ...first }))[0]]
    }
    const keys = JSON.stringify(asked.map(({ accountId, key }, place) => [accountId, key, place]))
    const found = new Map(
      (await answersUnder(store.read, { keys, since })).map((row) => [row.place, row]),
    )
    return asked.map((_, place) => found.get(place))
  }, mostTogether)
}

const mostTogether = 64

type Answer = Pick<IdempotencyKeyRow, 'fingerprint' | 'status' | 'response'>

const answersUnder = prepared<{ keys: string; since: number }, Answer & { place: number }>(
  (db, { keys, since }) =>
    db
      .selectFrom(rowsOf(keys))
      .innerJoin('idempotency_keys', (join) =>
        join
          .on('idempotency_keys.account_id', '=', cell(0, 'text'))
          .on('idempotency_keys.key', '=', cell(1, 'text')),
      )
      .select(['fingerprint', 'status', 'response', cell(2, 'integer').as('place')])
      .where('created_at', '>', since),
)

/** By account and key (interface.md: scoped to the account), and not older than 24 hours. */
const answerUnder = prepared<{ accountId: string; key: string; since: number }, Answer>(
  (db, { accountId, key, since }) =>
    db
      .selectFrom('idempotency_keys')
      .select(['fingerprint', 'status', 'response'])
      .where('account_id', '=', accountId)
      .where('key', '=', key)
      .where('created_at', '>', since),
)

/**
 * Keeps an answer under its key, in the write that it tells of. Resolves with false if the key is taken: the
 * table's primary key decides between requests of all threads, processes and nodes.
 */
export async function keepAnswer(tx: Tx, row: IdempotencyKeyRow): Promise<boolean> {
  if (isRemote(tx)) return await keepTogether(tx, row)
  const { account_id: _, key: __, ...kept } = row
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'key'])
        .doUpdateSet(kept)
        .where('idempotency_keys.created_at', '<=', row.created_at - keyLifetimeMs),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows !== 0n
}

/** For each transaction: the answers of mails that are written together are kept by one statement. */
const keeping = new WeakMap<Tx, (row: IdempotencyKeyRow) => Promise<boolean>>()

function keepTogether(tx: Tx, row: IdempotencyKeyRow): Promise<boolean> {
  const known = keeping.get(tx)
  const keep = known ?? lookUpTogether((rows) => keepAll(tx, rows), mostTogether)
  if (known === undefined) keeping.set(tx, keep)
  return keep(row)
}

async function keepAll(tx: Tx, rows: readonly IdempotencyKeyRow[]): Promise<boolean[]> {
  const nameOf = ({ account_id, key }: Pick<IdempotencyKeyRow, 'account_id' | 'key'>) =>
    `${account_id} ${key}`
  // In the order of their keys, so that two transactions never wait for each other.
  const inOrder = [...rows].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const kept = await tx
    .insertInto('idempotency_keys')
    .values(inOrder)
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'key'])
        .doUpdateSet(({ ref }) => ({
          fingerprint: ref('excluded.fingerprint'),
          status: ref('excluded.status'),
          response: ref('excluded.response'),
          created_at: ref('excluded.created_at'),
        }))
        .whereRef('idempotency_keys.created_at', '<=', sql`excluded.created_at - ${keyLifetimeMs}`),
    )
    .returning(['account_id', 'key'])
    .execute()
  const names = new Set(kept.map(nameOf))
  return rows.map((row) => names.has(nameOf(row)))
}

const rowsAWrite = 500

/**
 * Deletes the keys whose time is over, in small batches, until there are no more or `signal` stops it.
 */
export async function forgetExpired(
  { store, clock }: { store: Store; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  for (let deleted = rowsAWrite; deleted === rowsAWrite && !signal.aborted; ) {
    deleted = await store.write(async (tx) => {
      const expired = await tx
        .selectFrom('idempotency_keys')
        .select(['account_id', 'key'])
        .where('created_at', '<=', clock.now() - keyLifetimeMs)
        .limit(rowsAWrite)
        .execute()
      for (const { account_id, key } of expired) {
        await tx
          .deleteFrom('idempotency_keys')
          .where('account_id', '=', account_id)
          .where('key', '=', key)
          .execute()
      }
      return expired.length
    })
  }
}
