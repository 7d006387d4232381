import type { Clock } from '../clock/index.js'
import { internalReason, messageOf } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import { type Store, type Tx, unindexed, writeApart } from '../store/index.js'
import type { Backlog } from './backlog.js'
import { type StreamKey, stopOf } from './due-rows.js'
import { fail } from './end.js'
import type { LiveGate } from './explain.js'
import { hold } from './hold.js'
import { isInFlight } from './lease.js'

const perWrite = 200
const why = 'Given up: it could not be delivered within the time for which mail is tried'

export interface ExpireDeps {
  store: Store
  clock: Clock
  log: Log
  backlog: Backlog
  land: LandEvents
  /** At which gate a stream's due mail stands, as the outbound threads know. */
  gateOf(stream: StreamKey): Promise<LiveGate | undefined>
}

/**
 * Ends as `failed` deliveries that have waited for longer than they may, with the words of the gate where they stood.
 * An attempt checks that by itself; this is for mail that had none in time: its site was suspended, its account paused,
 * its rate used up. Held deliveries go on waiting: a release gives them their time again.
 */
export async function expireOverdue(deps: ExpireDeps, signal: AbortSignal): Promise<void> {
  const { store, clock, backlog, land } = deps
  while (!signal.aborted) {
    const now = clock.now()
    const rows = await store.read
      .selectFrom('queue')
      .select(['id', 'lane', 'class', 'account_id', 'due_at'])
      .where('expires_at', '<=', now)
      .where('held_at', 'is', null)
      // The gates of other nodes' mail are not known here.
      .where(unindexed<number>('node'), '=', store.node.number)
      .where(({ not }) => not(isInFlight(now)))
      .limit(perWrite)
      .execute()
    if (rows.length === 0) return
    const stoodAt = new Map<string, string | undefined>()
    const dying: Dying[] = []
    for (const { id, lane, class: of, account_id: accountId, due_at: dueAt } of rows) {
      const key = [lane, of, accountId].join(' ')
      // The last reply says why of a delivery that was not due.
      if (dueAt <= now && !stoodAt.has(key)) {
        stoodAt.set(key, await gateIn(deps, { lane, class: of, accountId }))
      }
      const gate = dueAt <= now ? stoodAt.get(key) : undefined
      const words = gate === undefined ? why : `${why}. What it last waited for: ${gate}`
      dying.push({ id, words })
    }
    const { results, faults, left, cause } = await writeApart(store.write, dying, (tx, some) =>
      failAll(tx, some, { now, land }),
    )
    const ended = results.reduce((sum, count) => sum + count, 0)
    backlog.change(-ended)
    if (left.length > 0) throw cause
    for (const { item, error } of faults) await holdUnending(deps, item.id, error)
    if (ended === 0) return
  }
}

interface Dying {
  id: number
  words: string
}

async function failAll(
  tx: Tx,
  dying: readonly Dying[],
  how: { now: number; land: LandEvents },
): Promise<number> {
  const idsByWhy = new Map<string, number[]>()
  for (const { id, words } of dying) idsByWhy.set(words, [...(idsByWhy.get(words) ?? []), id])
  let sum = 0
  for (const [why, ids] of idsByWhy) sum += await fail(tx, ids, { why, ...how })
  return sum
}

/** A delivery that cannot be ended is left to the operator, or it would be tried again for ever. */
async function holdUnending({ store, clock, log }: ExpireDeps, id: number, fault: unknown) {
  const cause = messageOf(fault)
  const reason = internalReason(
    'the time for which it is tried is over, and it cannot be ended',
    cause,
  )
  const now = clock.now()
  const outcome = await writeApart(store.write, [id], (tx) =>
    hold(tx, [id], { reason, by: 'fault', now }),
  )
  if (outcome.left.length > 0) throw outcome.cause
  const how = outcome.faults.length > 0 ? 'nor held' : "and is held: 'posthorn queue held'"
  log.error(
    { deliveryId: id, cause },
    `A delivery that was tried for long enough cannot be ended, ${how}`,
  )
}

async function gateIn({ store, gateOf }: ExpireDeps, stream: StreamKey) {
  return (await stopOf(store.read, stream)) ?? (await gateOf(stream))?.says
}
