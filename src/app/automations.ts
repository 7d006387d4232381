import { cancelArchived, nextDueAt, runBackfills, type Versions } from '../automations/index.js'
import type { Plans } from '../billing/index.js'
import { type Clock, pause } from '../clock/index.js'
import { forgetMore } from '../runs/index.js'
import type { Store } from '../store/index.js'
import type { Chore } from './housekeeping.js'

// Runs that fall due sooner than the next look have an alarm of their own.
const lookMs = 5_000
// Between writes others have their turn.
const restMs = 20

/** What starts the engine when a step falls due, and ends what an archiving has left half done. */
export function automationChores({
  store,
  clock,
  plans,
  versions,
  isFull,
  automate,
}: {
  store: Store
  clock: Clock
  plans: Plans
  versions: Versions
  isFull: () => Promise<boolean>
  automate: () => void
}): Chore[] {
  return [
    {
      name: 'automations that are due',
      everyMs: lookMs,
      async run(signal) {
        const dueAt = await nextDueAt(store.read)
        const inMs = dueAt === undefined ? lookMs : dueAt - clock.now()
        if (inMs <= 0) automate()
        else if (inMs < lookMs) {
          const cancel = clock.after(inMs, () => {
            signal.removeEventListener('abort', cancel)
            automate()
          })
          signal.addEventListener('abort', cancel, { once: true })
        }
      },
    },
    {
      name: 'automations that are started over lists',
      everyMs: lookMs,
      run: (signal) => runBackfills({ store, clock, plans, versions, isFull, automate }, signal),
    },
    {
      name: 'runs of archived automations',
      everyMs: 30_000,
      run: (signal) => cancelArchived({ store, clock }, signal),
    },
    {
      name: 'events of deleted contacts',
      everyMs: 5_000,
      async run(signal) {
        while (!signal.aborted && (await store.write((tx) => forgetMore(tx)))) {
          await pause(clock, restMs, signal)
        }
      },
    },
  ]
}
