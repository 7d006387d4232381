import { sql } from 'kysely'
import { plansDay } from '../billing/index.js'
import { type Clock, hourMs } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Read, RefusedArrivalRow, Store } from '../store/index.js'

/** Which limit of its plan had a mail refused. */
export type RefusedWhy = RefusedArrivalRow['why']

/** The refusals that still matter. */
export interface RefusedArrivals {
  why: RefusedWhy
  mails: number
  firstAt: number
  lastAt: number
}

// Refusals are told by the hour, and a flood of them must not make a flood of writes.
const writeAfterMs = 5_000

/**
 * Counts the mails that plans had refused, so that somebody hears of it. A flood is one row for each account and
 * reason, written every few seconds. A kill loses the last few of a count that is only shown to people.
 */
export function makeRefusedTally({ store, clock, log }: { store: Store; clock: Clock; log: Log }) {
  let counts = new Map<string, Pick<RefusedArrivalRow, 'account_id' | 'why'> & RefusedArrivals>()
  let cancel: (() => void) | undefined
  let writing: Promise<void> = Promise.resolve()
  const write = () => {
    cancel = undefined
    const rows = [...counts.values()]
    counts = new Map()
    writing = addRefused(store, rows).catch((error: unknown) =>
      log.error({ cause: messageOf(error) }, 'Refused mail was not counted'),
    )
  }
  return {
    note(accountId: string, why: RefusedWhy): void {
      const key = `${accountId} ${why}`
      const now = clock.now()
      const first = { account_id: accountId, why, mails: 0, firstAt: now, lastAt: now }
      const row = counts.get(key) ?? first
      row.mails++
      row.lastAt = now
      counts.set(key, row)
      cancel ??= clock.after(writeAfterMs, write)
    },
    async close(): Promise<void> {
      cancel?.()
      await writing
      write()
      await writing
    },
  }
}

/** Adds to the rows of today; counts of earlier days are forgotten. */
async function addRefused(
  store: Store,
  rows: readonly (Pick<RefusedArrivalRow, 'account_id' | 'why'> & RefusedArrivals)[],
): Promise<void> {
  if (rows.length === 0) return
  await store.write(async (tx) => {
    for (const { account_id, why, mails, firstAt, lastAt } of rows) {
      const row = { account_id, why, mails, first_at: firstAt, last_at: lastAt, told_at: null }
      const isOld = sql<boolean>`refused_arrivals.last_at < ${plansDay(lastAt)}`
      await tx
        .insertInto('refused_arrivals')
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(['account_id', 'why']).doUpdateSet((eb) => ({
            last_at: lastAt,
            first_at: eb
              .case()
              .when(isOld)
              .then(eb.ref('excluded.first_at'))
              .else(eb.ref('refused_arrivals.first_at'))
              .end(),
            mails: eb
              .case()
              .when(isOld)
              .then(eb.ref('excluded.mails'))
              .else(eb('refused_arrivals.mails', '+', eb.ref('excluded.mails')))
              .end(),
          })),
        )
        .execute()
    }
  })
}

/** An account's refusals of today, while they matter: those for an hour's limit are over an hour later. */
export async function refusedLately(
  read: Read,
  accountId: string,
  now: number,
): Promise<RefusedArrivals[]> {
  const rows = await read
    .selectFrom('refused_arrivals')
    .select(['why', 'mails', 'first_at', 'last_at'])
    .where('account_id', '=', accountId)
    .where('last_at', '>=', plansDay(now))
    .orderBy('why')
    .execute()
  return rows
    .filter(({ why, last_at }) => why !== 'hour' || last_at > now - hourMs)
    .map(({ why, mails, first_at: firstAt, last_at: lastAt }) => ({ why, mails, firstAt, lastAt }))
}

/** The reason, as a part of a sentence. */
export const refusedWords: Record<RefusedWhy, string> = {
  hour: 'the plan’s limit of mails that come in within an hour is reached',
  day: 'the plan’s limit of mails that come in within a day is reached',
  network: 'half of the plan’s limit came from one network, which leaves the rest to others',
  size: 'they were larger than the plan takes',
  storage: 'the plan’s storage is full',
}
