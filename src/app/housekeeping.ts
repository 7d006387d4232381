import type { Clock } from '../clock/index.js'
import { type Log, makeSeldom } from '../log/index.js'
import type { DutyKind } from '../nodes/index.js'
import { isPassing, wordsOfCause } from '../store/index.js'

/** Work of the main thread that recurs and is too small for a thread of its own. */
export interface Chore {
  name: string
  /** Who runs it where several appliances share a database: each node, or the node with this duty. */
  of: 'node' | DutyKind
  everyMs: number
  /**
   * It rests until somebody commits, as only the database says whether there is anything to do. Its run may resolve
   * with a time (ms, UTC) at which it runs again even without a commit; a time that has passed means its next turn.
   */
  rests?: boolean
  // biome-ignore lint/suspicious/noConfusingVoidType: one that does not rest says nothing
  run(signal: AbortSignal): Promise<number | undefined | void>
}

interface HousekeepingOptions {
  /** Whether a duty is this node's. */
  isHere?: (duty: DutyKind) => boolean
  /** `Store.commits`; without it no chore rests. */
  commits?: () => number
}

// The longest rest. A rest may miss a commit of another process that was mistaken for one of our own.
const longestRestMs = 300_000

/**
 * Runs each chore now and then, one run of it at a time. A failed run is logged, at most once a minute, and comes
 * again.
 */
export function startHousekeeping(
  clock: Clock,
  log: Log,
  chores: readonly Chore[],
  { isHere = () => true, commits }: HousekeepingOptions = {},
) {
  const stopping = new AbortController()
  const timers = new Map<string, () => void>()
  const running = new Set<Promise<void>>()

  /** Runs a chore of this node, unless it rests. */
  const turnsOf = (chore: Chore) => {
    let last: { commits: number; at: number; until: number } | undefined
    return async (signal: AbortSignal) => {
      if (chore.of !== 'node' && !isHere(chore.of)) {
        // This node has not seen what another one has done meanwhile.
        last = undefined
        return
      }
      if (chore.rests !== true || commits === undefined) return void (await chore.run(signal))
      // Read before the run: what is committed meanwhile is for the next run.
      const [seen, now] = [commits(), clock.now()]
      // A clock that was set back makes other things due.
      if (last?.commits === seen && last.at <= now && now < last.until) return
      last = undefined
      const until = (await chore.run(signal)) ?? Number.POSITIVE_INFINITY
      last = { commits: seen, at: now, until: Math.min(until, now + longestRestMs) }
    }
  }
  const plan = (chore: Chore, work = turnsOf(chore), seldom = makeSeldom(clock)) => {
    const wake = () => {
      const run = work(stopping.signal)
        .catch((error) =>
          seldom(() => {
            // Where the database is away a stack tells nothing, and each chore has its own.
            const why = isPassing(error) ? { cause: wordsOfCause(error) } : { error }
            log.error({ ...why, chore: chore.name }, 'Housekeeping failed')
          }),
        )
        .finally(() => {
          running.delete(run)
          if (!stopping.signal.aborted) plan(chore, work, seldom)
        })
      running.add(run)
    }
    timers.set(chore.name, clock.after(chore.everyMs, wake))
  }
  for (const chore of chores) plan(chore)

  return {
    async stop() {
      stopping.abort()
      for (const cancel of timers.values()) cancel()
      await Promise.all(running)
    },
  }
}
