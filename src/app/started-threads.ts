import type { TrackingAgents } from '../tracking/index.js'
import type { MailRules } from './mail-rules.js'
import { type Supervised, type SuperviseOptions, supervise } from './supervise.js'
import { type ThreadData, threadName } from './thread-data.js'
import { type Kind, kinds, roles, writeSlots } from './thread-roster.js'

/** The worker threads that were started: each kind once, however often it is asked for. */
export interface StartedThreads {
  /**
   * Starts as many threads of the kind as the settings want. Resolves when all of them work; rejects when one cannot
   * start. With `isLater`, a thread that cannot start is tried again, as if it had died.
   */
  start(kind: Kind, given?: ThreadsGiven, isLater?: boolean): Promise<readonly Supervised[]>
  isStarted(kind: Kind): boolean
  /** Ends the threads of the kind, which may be started again when this has resolved. */
  end(kind: Kind): Promise<void>
  /** Threads that have worked, of one kind or of all; also while they are down. */
  known(kind?: Kind): readonly Supervised[]
  /** Has the threads read again the files that operators edit, also a thread that starts just now. */
  reload(): void
  /** Resolves when all that were started work, and rejects when one could not start. */
  allReady(): Promise<void>
  stop(): Promise<void>
}

/** What the threads of one kind are told at their start beyond what all are told. */
export type ThreadsGiven = Pick<ThreadData, 'sandboxPort' | 'inboundPort' | 'httpsPeers'>

export type StartedThreadsOptions = Pick<SuperviseOptions, 'log' | 'clock' | 'metrics' | 'onRing'> &
  Pick<ThreadData, 'config' | 'dataDir' | 'plans' | 'publicUrl' | 'turns' | 'backlog'> &
  Required<Pick<ThreadData, 'httpsPeers'>> & {
    /** By the last good file, for a thread that starts now. */
    agents: () => TrackingAgents
    mailRules: () => MailRules
  }

export const entryOf = (kind: Kind) => new URL(`../threads/${kind}.js`, import.meta.url)

interface Started {
  starting: Promise<Supervised>
  /** Set once it has worked. */
  thread?: Supervised
}

export function makeStartedThreads(options: StartedThreadsOptions): StartedThreads {
  const { config, httpsPeers } = options
  const started = new Map<Kind, readonly Started[]>()
  const all = () => [...started.values()].flat()
  let isStopped = false
  const end = async (kind: Kind) => {
    for (const { starting } of (started.get(kind) ?? []).toReversed()) {
      // A thread that could not start has nothing to stop.
      const thread = await starting.catch(() => undefined)
      await thread?.stop(roles[kind].graceMs(config))
    }
    started.delete(kind)
  }
  return {
    start(kind, given, isLater) {
      // A chore that began before the stop may ask for a thread behind it, which would outlive the appliance.
      if (isStopped) return Promise.resolve([])
      const length = roles[kind].count({ config, httpsPeers })
      const threads =
        started.get(kind) ??
        Array.from({ length }, (_, index) => startOne(options, { kind, index, given, isLater }))
      started.set(kind, threads)
      const working = Promise.all(threads.map(({ starting }) => starting))
      // A caller that does not wait hears of a failure by `allReady`.
      working.catch(() => {})
      return working
    },
    isStarted: (kind) => started.has(kind),
    known: (kind) =>
      (kind === undefined ? all() : (started.get(kind) ?? [])).flatMap(
        ({ thread }) => thread ?? [],
      ),
    reload() {
      for (const [kind, threads] of started) {
        for (const { starting } of threads) {
          // A thread that cannot start has read nothing.
          starting.then(
            (thread) =>
              thread.send({
                kind: 'reload',
                agents: options.agents(),
                mailRules: rulesFor(kind, options),
              }),
            () => {},
          )
        }
      }
    },
    async allReady() {
      await Promise.all(all().map(({ starting }) => starting))
    },
    end,
    async stop() {
      isStopped = true
      for (const kind of kinds.toReversed()) await end(kind)
    },
  }
}

function startOne(
  options: StartedThreadsOptions,
  { kind, index, given, isLater }: StartOfOne,
): Started {
  const { config, dataDir, plans, publicUrl, turns, backlog } = options
  const { log, clock, metrics, onRing } = options
  const started: Started = {
    starting: supervise({
      name: threadName(kind, index),
      entry: entryOf(kind),
      resourceLimits: roles[kind].heap,
      data: {
        config,
        dataDir,
        plans,
        publicUrl,
        turns,
        backlog,
        // Read at each start of the thread.
        get agents() {
          return options.agents()
        },
        get mailRules() {
          return rulesFor(kind, options)
        },
        slot: writeSlots[kind] + index,
        index,
        ...given,
      },
      log,
      clock,
      metrics,
      onRing,
      isLater,
    }),
  }
  started.starting.then(
    (thread) => {
      started.thread = thread
    },
    () => {},
  )
  return started
}

const rulesFor = (kind: Kind, { mailRules }: StartedThreadsOptions) =>
  roles[kind].needsMailRules ? mailRules() : undefined

interface StartOfOne {
  kind: Kind
  index: number
  given: ThreadsGiven | undefined
  isLater: boolean | undefined
}
