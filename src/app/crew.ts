import { makeOutboundThreads, type OutboundThreads } from './outbound-threads.js'
import { rehearse } from './rehearse.js'
import {
  makeStartedThreads,
  type StartedThreads,
  type StartedThreadsOptions,
} from './started-threads.js'
import type { Supervised } from './supervise.js'
import { setFlagsOfThreads } from './thread-heap.js'
import { type ThreadWatch, watchThreads } from './thread-watch.js'

/**
 * The worker threads together. Questions to them are in `outbound-threads.ts`, which of them does not work in
 * `thread-watch.ts`. Here is where they listen, and when which of them starts.
 */
export interface Crew extends OutboundThreads, ThreadWatch {
  /** Has the threads read again the files that operators edit. */
  reload(): void
  /** Starts what `isLate` has left for later; resolves when all of it works, or rejects. */
  complete(): Promise<void>
  /** Starts the courier once webhooks have an endpoint to go to; ends it where all of that is another node's duty. */
  startWhatIsMissing(): Promise<void>
  /**
   * Resolves when no webhook is under way any more whose endpoint belongs to another node by now, after two seconds at
   * most.
   */
  letGoOfWebhooks(): Promise<void>
  /** Ends the checkpoint thread when nobody writes and its work is done, and starts it again when somebody does. */
  restOrWake(): Promise<void>
  readonly sandboxPort: number | undefined
  /** Where bounces and complaints arrive. */
  readonly inboundPort: number | undefined
  /** Where programs hand in mail, by the listener's name. */
  readonly submissionPorts: Readonly<Record<string, number>>
  /** Where HTTP is spoken over TLS, by the listener's name: `public`, `private`. */
  readonly httpsPorts: Readonly<Record<string, number>>
  /** Has the inbound thread look for files that were taken over from other nodes. */
  readSpoolAnew(): void
  /** Gives opens and clicks to the thread that records them; resolves with false while there is none. */
  recordHits(hits: string): Promise<boolean>
  close(): Promise<void>
}

export interface CrewOptions extends StartedThreadsOptions {
  /** Whether there is anything that the courier may have to do. */
  hasEndpoints: () => Promise<boolean>
  /** Whether webhooks, or a part of them, are this appliance's duty. */
  isCourierHere: () => boolean
  /** Whether there is anything for the checkpoint thread to do. */
  hasCheckpointWork: () => Promise<boolean>
  /** Only the sandbox inbox is started at first; mail that is accepted waits for `complete`. */
  isLate?: boolean | undefined
  /** Nothing is started before `complete`, not even the sandbox inbox; what can be tried is tried. */
  isHeld?: boolean
}

/** Resolves when the threads work that these options want at first; rejects when one of them cannot start. */
export async function openCrew(options: CrewOptions): Promise<Crew> {
  setFlagsOfThreads()
  const threads = makeStartedThreads(options)
  const outbound = makeOutboundThreads()
  const starts = planStarts(threads, outbound.begin, options)
  try {
    await starts.begin()
  } catch (error) {
    await starts.close()
    throw error
  }
  const { ring, gateOf, standing, contacts, retry } = outbound
  const { complete, startWhatIsMissing, restOrWake, close } = starts
  return {
    ring,
    gateOf,
    standing,
    contacts,
    retry,
    ...watchThreads(threads, options.clock),
    complete,
    startWhatIsMissing,
    restOrWake,
    close,
    get sandboxPort() {
      return portOf(threads, 'sandbox')
    },
    get inboundPort() {
      return portOf(threads, 'inbound')
    },
    get submissionPorts() {
      return threads.known('submission')[0]?.ports ?? {}
    },
    get httpsPorts() {
      return threads.known('https')[0]?.ports ?? {}
    },
    readSpoolAnew() {
      for (const thread of threads.known('inbound')) thread.send({ kind: 'ring', due: [] })
    },
    recordHits: async (hits) => (await threads.known('checkpoint')[0]?.record(hits)) ?? false,
    async letGoOfWebhooks() {
      await threads.known('courier')[0]?.letGo()
    },
    reload: threads.reload,
  }
}

/**
 * What starts when: some threads at once, the others at `complete`, the courier and the checkpoint thread while there
 * is work for them.
 */
function planStarts(
  threads: StartedThreads,
  sendBy: (outbound: readonly Supervised[]) => void,
  { config, httpsPeers, isLate = false, isHeld = false, ...shared }: CrewOptions,
) {
  let others: Promise<void> | undefined
  const complete = () => {
    others ??= startOthers(threads, sendBy, shared)
    return others
  }
  return {
    async begin() {
      // The thread's ports are part of the listeners' URLs, which are asked for as soon as this resolves.
      const https = threads.start('https', { httpsPeers })
      if (isHeld) await rehearse({ config, ...shared })
      else if (isLate) await threads.start('sandbox')
      else await complete()
      await https
    },
    complete,
    async startWhatIsMissing() {
      if (others === undefined) return
      if (!shared.isCourierHere()) return await threads.end('courier')
      if (threads.isStarted('courier') || !(await shared.hasEndpoints())) return
      await threads.start('courier', {}, true)
    },
    async restOrWake() {
      if (others === undefined) return
      if (await shared.hasCheckpointWork()) await threads.start('checkpoint', {}, true)
      else await threads.end('checkpoint')
    },
    async close() {
      // A thread that has begun to start is stopped too.
      await others?.catch(() => {})
      await threads.stop()
    },
  }
}

/**
 * A thread starts before those that need it: the sandbox inbox before the threads that deliver to it, the listener for
 * bounces before the first mail leaves, as a bounce may come back at once.
 */
async function startOthers(
  threads: StartedThreads,
  sendBy: (outbound: readonly Supervised[]) => void,
  { hasEndpoints, isCourierHere }: Pick<CrewOptions, 'hasEndpoints' | 'isCourierHere'>,
): Promise<void> {
  void threads.start('checkpoint')
  await Promise.all([threads.start('inbound'), threads.start('sandbox')])
  const sandboxPort = portOf(threads, 'sandbox')
  const inboundPort = portOf(threads, 'inbound')
  const outbound = threads.start('outbound', {
    ...(sandboxPort === undefined ? {} : { sandboxPort }),
    ...(inboundPort === undefined ? {} : { inboundPort }),
  })
  if (isCourierHere() && (await hasEndpoints())) void threads.start('courier')
  await threads.start('submission')
  sendBy(await outbound)
  await threads.allReady()
}

const portOf = (threads: StartedThreads, kind: 'sandbox' | 'inbound') =>
  threads.known(kind)[0]?.port
