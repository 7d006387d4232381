import type { Clock } from '../clock/index.js'
import type { LandEvents } from '../events/index.js'
import type { Store } from '../store/index.js'
import type { Backlog } from './backlog.js'
import { type StreamKey, stopOf } from './claim.js'
import type { LiveGate } from './explain.js'
import { fail } from './give-up.js'
import { isInFlight } from './held.js'

const perWrite = 200
const why = 'Given up: it could not be delivered in its time'

export interface ExpireDeps {
  store: Store
  clock: Clock
  backlog: Backlog
  land: LandEvents
  /** At which gate a stream's due mail stands, as the outbound threads know. */
  gateOf(stream: StreamKey): Promise<LiveGate | undefined>
}

/**
 * Ends as `failed` what has waited for longer than it may, with the words of the gate where it stood. An
 * attempt sees to that by itself; this is for mail that had none in time: its site was suspended, its
 * account paused, its rate used up. What is held back waits on: release gives it its time again.
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
      .where(({ not }) => not(isInFlight(now)))
      .limit(perWrite)
      .execute()
    if (rows.length === 0) return
    const stoodAt = new Map<string, string | undefined>()
    const idsByWhy = new Map<string, number[]>()
    for (const { id, lane, class: of, account_id: accountId, due_at: dueAt } of rows) {
      const key = [lane, of, accountId].join(' ')
      // What was not due has its last reply to say why.
      if (dueAt <= now && !stoodAt.has(key)) {
        stoodAt.set(key, await gateIn(deps, { lane, class: of, accountId }))
      }
      const gate = dueAt <= now ? stoodAt.get(key) : undefined
      const words = gate === undefined ? why : `${why}. At the end: ${gate}`
      idsByWhy.set(words, [...(idsByWhy.get(words) ?? []), id])
    }
    const ended = await store.write(async (tx) => {
      let sum = 0
      for (const [words, ids] of idsByWhy) sum += await fail(tx, ids, { why: words, now, land })
      return sum
    })
    backlog.change(-ended)
    if (ended === 0) return
  }
}

async function gateIn({ store, gateOf }: ExpireDeps, stream: StreamKey) {
  return (await stopOf(store.read, stream)) ?? (await gateOf(stream))?.says
}
