import { createHmac } from 'node:crypto'
import { keepNewest } from '../bounded/index.js'
import { type Clock, isRecent } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { FailedAttemptsRow, Read, Store, Tx } from '../store/index.js'
import {
  type AttemptFrom,
  type FailureLimits,
  type Failures,
  forgottenAt,
  keysOf,
  makePace,
  oneMore,
  personKey,
  windowMs,
} from './failure-limits.js'

// The first two failures of a key stay in their node's memory: most people mistype once, and then cost no write.
const ownFailures = 2
const mostOwn = 50_000
// How far another node's clock may be ahead of ours.
const aheadMs = 10_000
const mostSwept = 100

interface Own {
  /** Failures that are in no row. */
  kept: number
  /** Attempts whose outcome is not known yet. */
  underWay: number
  lastAt: number
}

interface Counted {
  key: string
  limit: number
  mine: Own
  /** Whether it goes into a row, and how many failures of this memory it brings along. */
  goes: boolean
  earlier: number
}

/**
 * For several nodes: from the third failure on, a key has a row that all nodes share. Rows have hashes instead of
 * addresses and names. Each node itself counts the attempts a minute, which cost its processor's time.
 */
export function countedTogether({
  store,
  clock,
  key: applianceKey,
}: {
  store: Pick<Store, 'read' | 'write'>
  clock: Clock
  key: Pick<ApplianceKey, 'derive'>
}): FailureLimits {
  const secret = applianceKey.derive('failed attempts')
  const own = new Map<string, Own>()
  const pace = makePace()
  const hashed = (key: string) =>
    createHmac('sha256', secret).update(key).digest('base64url').slice(0, 22)
  const hashedOf = (from: AttemptFrom) =>
    keysOf(from).map(([key, limit]) => ({ key: hashed(key), limit }))

  function ownOf(key: string, now: number): Own {
    const before = own.get(key)
    const isPast = before === undefined || !isRecent(before.lastAt, now, windowMs)
    const mine = isPast ? { kept: 0, underWay: before?.underWay ?? 0, lastAt: now } : before
    mine.lastAt = now
    keepNewest(own, key, mine, mostOwn)
    return mine
  }

  function uncountOwn(key: string): void {
    const mine = own.get(key)
    if (mine !== undefined) mine.kept = Math.max(0, mine.kept - 1)
  }

  /** Counts in the rows, unless there is a wait: then returns its length and counts nothing. */
  const countInRows = (keys: readonly Counted[], now: number) =>
    store.write(async (tx) => {
      const rows = await lasting(tx, keys, now)
      const waitMs = waitOf(rows, now)
      const inRows = waitMs > 0 ? [] : keys.filter(({ key, goes }) => goes || rows.has(key))
      if (inRows.length > 0) await sweep(tx, now)
      for (const { key, limit, earlier } of inRows) {
        let failures = oneMore(rows.get(key), limit, now)
        for (let n = 0; n < earlier; n++) failures = oneMore(failures, limit, now)
        await keep(tx, key, failures)
      }
      return { waitMs, inRows }
    })

  /** Counts in memory and in rows; resolves with how long the client has to wait. */
  async function countAll(keys: readonly { key: string; limit: number; mine: Own }[], now: number) {
    const rows = await lasting(store.read, keys, now)
    const goes = ({ key, mine }: { key: string; mine: Own }) =>
      rows.has(key) || mine.kept + mine.underWay > ownFailures
    const counted = keys.map((one): Counted => {
      if (!goes(one)) return { ...one, goes: false, earlier: 0 }
      // This attempt brings them along, so that no concurrent attempt brings them too.
      const earlier = one.mine.kept
      one.mine.kept = 0
      return { ...one, goes: true, earlier }
    })
    if (!counted.some((one) => one.goes)) {
      for (const { mine } of counted) mine.kept++
      return 0
    }
    const giveBack = () => {
      for (const { mine, earlier } of counted) mine.kept += earlier
    }
    const { waitMs, inRows } = await countInRows(counted, now).catch((error: unknown) => {
      giveBack()
      throw error
    })
    if (waitMs > 0) giveBack()
    else for (const one of counted) if (!inRows.includes(one)) one.mine.kept++
    return waitMs
  }

  /** Subtracts one from some keys, and deletes others. */
  async function uncount(keys: readonly string[], drop: readonly string[]): Promise<void> {
    const now = clock.now()
    const all = [...keys, ...drop].map((key) => ({ key }))
    const there = await lasting(store.read, all, now)
    for (const key of keys) if (!there.has(key)) uncountOwn(key)
    for (const key of drop) own.delete(key)
    if (there.size === 0) return
    await store.write(async (tx) => {
      const rows = await lasting(tx, all, now)
      for (const [key, { count, lastAt, blockedUntil }] of rows) {
        if (drop.includes(key) || count <= 1) {
          await tx.deleteFrom('failed_attempts').where('key', '=', key).execute()
          continue
        }
        // The attempt was let through, so no earlier wait was running. The time is moved to the past, so that
        // the entry is not forgotten too early.
        const ended = Math.min(blockedUntil, now)
        await keep(tx, key, { count: count - 1, lastAt, blockedUntil: ended })
      }
    })
  }

  return {
    async take(from) {
      const now = clock.now()
      const keys = hashedOf(from)
      const waitMs = waitOf(await lasting(store.read, keys, now), now)
      // A refused attempt stores nothing.
      if (waitMs > 0) return waitMs
      const tooSoonMs = pace(from.who, now)
      if (tooSoonMs > 0) return tooSoonMs
      // Before any wait, so that simultaneous attempts see each other.
      const counted = keys.map((one) => ({ ...one, mine: ownOf(one.key, now) }))
      for (const { mine } of counted) mine.underWay++
      try {
        return await countAll(counted, now)
      } finally {
        for (const { mine } of counted) mine.underWay--
      }
    },
    takeBack: (from) =>
      uncount(
        hashedOf(from).map(({ key }) => key),
        [],
      ),
    async forgive(from) {
      const person = hashed(personKey(from.who))
      const others = hashedOf(from).flatMap(({ key }) => (key === person ? [] : [key]))
      await uncount(others, [person])
    },
    forget: (who) => uncount([], [hashed(personKey(who))]),
  }
}

/** The keys' rows that are not forgotten yet. */
async function lasting(
  read: Read | Tx,
  keys: readonly { key: string }[],
  now: number,
): Promise<Map<string, Failures>> {
  const rows = await read
    .selectFrom('failed_attempts')
    .selectAll()
    .where(
      'key',
      'in',
      keys.map(({ key }) => key),
    )
    .execute()
  // A time in the future is from before the clocks were set back.
  const last = rows.filter(({ last_at, until }) => last_at <= now + aheadMs && until > now)
  return new Map(last.map((row) => [row.key, failuresOf(row)]))
}

const failuresOf = ({ count, last_at, blocked_until }: FailedAttemptsRow): Failures => ({
  count,
  lastAt: last_at,
  blockedUntil: blocked_until,
})

const waitOf = (rows: ReadonlyMap<string, Failures>, now: number): number =>
  Math.max(0, ...[...rows.values()].map(({ blockedUntil }) => blockedUntil - now))

async function keep(tx: Tx, key: string, failures: Failures): Promise<void> {
  const { count, lastAt, blockedUntil } = failures
  const values = {
    count,
    last_at: lastAt,
    blocked_until: blockedUntil,
    until: forgottenAt(failures),
  }
  await tx
    .insertInto('failed_attempts')
    .values({ key, ...values })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
    .execute()
}

/** Deletes forgotten rows when new ones are written. */
async function sweep(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('failed_attempts')
    .where('key', 'in', (eb) =>
      eb
        .selectFrom('failed_attempts')
        .select('key')
        .where('until', '<', now - aheadMs)
        .orderBy('until')
        .orderBy('key')
        .limit(mostSwept),
    )
    .execute()
}
