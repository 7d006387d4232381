import { nextDueAt } from '../automations/index.js'
import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { holds, holdsAll, holdsPart } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import type { JobThread, JobThreads } from './job-threads.js'
import type { RungJob } from './ring.js'
import { writeSlots } from './thread-roster.js'

/** Long work that comes now and then, each kind in a thread that lives while there is some. */
export interface Jobs {
  /** Starts the expansion of campaigns; if it is under way, starts it again when it has ended. */
  expand(): void
  /** Starts the engine of automations; if it is under way, it looks at once for what is due. */
  automate(): void
  /** Does the same if a step is due now. */
  automateIfDue(): void
  /** Has segments looked at; if a look is under way, the next one follows at once. */
  keepSegments(): void
  /** The same for this node's parts alone, after a ring of another node, which has told the rest. */
  heard: Readonly<Record<'expand' | 'automate' | 'keepSegments', () => void>>
}

/**
 * Each has a slot of its own for taking turns at writing (`store/sqlite/turns.ts`), so that a
 * thread that dies frees its turn.
 */
export const jobsOnDemand: readonly JobThread[] = [
  { name: 'expand', slot: writeSlots.expand },
  { name: 'automate', slot: writeSlots.automate },
  { name: 'segments', slot: writeSlots.segments },
]

/**
 * Starts these jobs. Each may be asked for at any moment and as often as anybody likes. Where it is another node's duty
 * that node is told; if it does not hear, it finds the work by its own looks.
 */
export function startsOnDemand(
  threads: JobThreads,
  {
    store,
    clock,
    log,
    tell,
  }: { store: Store; clock: Clock; log: Log; tell: (news: { jobs: RungJob[] }) => void },
): Jobs {
  let expandAgain = false
  // A job that broke is begun anew when its chore looks, and not at once, over and over.
  const start = async (name: 'expand' | 'automate' | 'segments', again: () => void) => {
    const { error, told } = await threads.run(name)
    if (error !== undefined) log.error({ error, job: name }, 'A job failed')
    else if (told === undefined) again()
  }
  const expandHere = () => {
    if (!holds(store.node, 'expand')) return
    // It may not look again at what it has already read.
    if (threads.isRunning('expand')) {
      expandAgain = true
      return
    }
    expandAgain = false
    void start('expand', () => {
      if (expandAgain) expandHere()
    })
  }
  const automateHere = () => {
    if (!holds(store.node, 'automate')) return
    if (threads.isRunning('automate')) threads.post('automate', 'ring')
    // A step may have fallen due while the engine ended.
    else void start('automate', automateIfOursIsDue)
  }
  const isOurs = (accountId: string) => holdsPart(store.node, 'automate', accountId)
  const automateIfOursIsDue = () =>
    void nextDueAt(store.read, isOurs)
      .then((dueAt) => {
        if (dueAt !== undefined && dueAt <= clock.now()) automateHere()
      })
      .catch((error: unknown) => log.error({ error }, 'Automations wait'))
  const automate = () => {
    if (!holdsAll(store.node, 'automate')) tell({ jobs: ['automate'] })
    automateHere()
  }
  const expand = () => {
    if (!holdsAll(store.node, 'expand')) tell({ jobs: ['expand'] })
    expandHere()
  }
  // Requests call this, so one look serves all requests that ask while it is under way, and one more comes after it.
  let looking = false
  let lookAgain = false
  const automateIfDue = () => {
    lookAgain = looking
    if (looking) return
    looking = true
    nextDueAt(store.read)
      .then((dueAt) => {
        if (dueAt !== undefined && dueAt <= clock.now()) automate()
      })
      .catch((error: unknown) => log.error({ error }, 'Automations wait'))
      .finally(() => {
        looking = false
        if (lookAgain) automateIfDue()
      })
  }
  const keepSegmentsHere = () => {
    if (!holds(store.node, 'segments')) return
    if (threads.isRunning('segments')) threads.post('segments', 'ring')
    // If something comes while the thread ends, its chore finds it a second later.
    else void start('segments', () => {})
  }
  const keepSegments = () => {
    if (!holds(store.node, 'segments')) tell({ jobs: ['keepSegments'] })
    keepSegmentsHere()
  }
  return {
    expand,
    automate,
    automateIfDue,
    keepSegments,
    heard: { expand: expandHere, automate: automateHere, keepSegments: keepSegmentsHere },
  }
}
