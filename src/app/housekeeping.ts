import type { Clock } from '../clock/index.js'
import { type Log, makeSeldom } from '../log/index.js'
import type { DutyName } from '../nodes/index.js'
import { isPassing, wordsOfCause } from '../store/index.js'

/** Work of the main thread that recurs and is too small for a thread of its own. */
export interface Chore {
  name: string
  /** Whose it is where several appliances share a database: each node's own, or of the one that has this duty. */
  of: 'node' | DutyName
  everyMs: number
  run(signal: AbortSignal): Promise<void>
}

/** Runs each chore now and then, one run of it at a time; a failed run is logged, once a minute at most, and comes again. */
export function startHousekeeping(
  clock: Clock,
  log: Log,
  chores: readonly Chore[],
  isHere: (duty: DutyName) => boolean = () => true,
) {
  const stopping = new AbortController()
  const timers = new Map<string, () => void>()
  const running = new Set<Promise<void>>()

  const plan = (chore: Chore, seldom = makeSeldom(clock)) => {
    const wake = () => {
      const isOurs = chore.of === 'node' || isHere(chore.of)
      const run = (isOurs ? chore.run(stopping.signal) : Promise.resolve())
        .catch((error) =>
          seldom(() => {
            // Where the database is away a stack tells nothing, and each chore has its own.
            const why = isPassing(error) ? { cause: wordsOfCause(error) } : { error }
            log.error({ ...why, chore: chore.name }, 'Housekeeping failed')
          }),
        )
        .finally(() => {
          running.delete(run)
          if (!stopping.signal.aborted) plan(chore, seldom)
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
