import type { Log } from '../log/index.js'
import { automateSlot, expandSlot } from './crew.js'
import type { JobThread, JobThreads } from './job-threads.js'

/** Long work that comes now and then, each kind in a thread that lives while there is some. */
export interface Jobs {
  /** Starts the expansion of campaigns; if it is under way, it is started again when it has ended. */
  expand(): void
  /** Starts the engine of automations; if it is under way, it looks for what is due at once. */
  automate(): void
}

export const jobsOnDemand: readonly JobThread[] = [
  { name: 'expand', slot: expandSlot },
  { name: 'automate', slot: automateSlot },
]

/** `onAutomated`: the engine of automations has ended, and whoever knows when the next step is due starts it again. */
export function startsOnDemand(threads: JobThreads, log: Log, onAutomated: () => void): Jobs {
  let expandAgain = false
  // One that broke is begun anew when its chore looks, not at once and for ever.
  const start = async (name: 'expand' | 'automate', again: () => void) => {
    const { error, told } = await threads.run(name)
    if (error !== undefined) log.error({ error, job: name }, 'A job failed')
    else if (told === undefined) again()
  }
  const expand = () => {
    // What it has read already it may not look at again.
    if (threads.isRunning('expand')) {
      expandAgain = true
      return
    }
    expandAgain = false
    void start('expand', () => {
      if (expandAgain) expand()
    })
  }
  return {
    expand,
    automate() {
      if (threads.isRunning('automate')) threads.post('automate', 'ring')
      else void start('automate', onAutomated)
    },
  }
}
