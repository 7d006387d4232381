import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { LiveGate, RetriedLanes, StreamDue, StreamKey } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import type { OutboundStanding, Reachability, ThreadStanding } from '../outbound/index.js'
import { rehearse } from './rehearse.js'
import { type Supervised, type SuperviseOptions, supervise } from './supervise.js'
import { type HttpsPeers, type ThreadData, threadName } from './thread-data.js'
import { heaps, type Kind, letThreadsHaveHeaps } from './thread-heap.js'

/** The worker threads together. */
export interface Crew {
  ring(due: readonly StreamDue[]): void
  /** The files that operators edit are to be read again. */
  reload(): void
  /** At which gate a stream's mail stands; undefined when nothing of it is due. */
  gateOf(stream: StreamKey): Promise<LiveGate | undefined>
  /** The sites and accounts that the outbound threads are busy with: each is one thread's. */
  standing(): Promise<OutboundStanding>
  /** What each outbound thread has seen of the way out; those that do not answer are left out. */
  contacts(): Promise<Reachability[]>
  /** The operator made mail due, which is to be tried even where a site is suspended. */
  retry(lanes: RetriedLanes): void
  /** Starts what `isLate` has left for later; resolves when all of it works, or rejects. */
  complete(): Promise<void>
  /** Starts the courier, once there is an endpoint that webhooks go to. */
  startWhatIsMissing(): Promise<void>
  readonly sandboxPort: number | undefined
  /** Where bounces and complaints come to. */
  readonly inboundPort: number | undefined
  /** Where programs hand mail in, by the listener's name. */
  readonly submissionPorts: Readonly<Record<string, number>>
  /** Where HTTP is spoken over TLS, by the listener's name: `public`, `private`. */
  readonly httpsPorts: Readonly<Record<string, number>>
  /** To be called every `tellEveryMs`: threads that have said nothing since the last time are counted. */
  tick(): void
  /** The threads that have not worked for so long: dead, although started again, or hung. */
  unwell(forMs: number): FailingThread[]
  /** The threads that die again and again, however soon they are back. */
  dyingThreads(): string[]
  /** False when a thread has not worked for minutes. */
  healthy(): boolean
  close(): Promise<void>
}

/** A thread that does no work now. */
export interface FailingThread {
  thread: string
  /** `hung`: it is there, and its event loop does not turn. */
  state: 'down' | 'hung'
  forMs: number
}

export interface CrewOptions {
  config: Config
  dataDir: string
  publicUrl: string
  turns: SharedArrayBuffer
  backlog: SharedArrayBuffer
  log: Log
  clock: Clock
  metrics: SuperviseOptions['metrics']
  /** Of the HTTP listeners that have TLS. */
  httpsPeers: HttpsPeers
  /** Whether there is anything that the courier may have to do. */
  hasEndpoints: () => Promise<boolean>
  /** Threads that take mail in say what has fallen due. */
  onRing: (due: readonly StreamDue[]) => void
  /** Only the sandbox inbox is started at first; mail that is accepted waits for `complete`. */
  isLate?: boolean | undefined
  /** Nothing is started before `complete`, the sandbox inbox neither; what can be tried is. */
  isHeld?: boolean
}

const entry = (name: string) => new URL(`../threads/${name}.js`, import.meta.url)
// Write slots, by which their ids differ too: main has 0, the outbound threads those after these, a command 20.
const sandboxSlot = 1
/** Of the thread that is there while automations have something due. */
export const automateSlot = 2
const firstOutboundSlot = 3 // and 7 more
const inboundSlot = 11
const courierSlot = 12
/** Of the thread that is there while campaigns are expanded. */
export const expandSlot = 13
/** Of the jobs of the calendar, of which one at a time may make mail. */
export const shortJobSlot = 14
const submissionSlot = 15
// Threads from here on make no mails.
const checkpointSlot = 16
/** Of the thread that is there while contacts are imported. */
export const importSlot = 17
/** Of the jobs of the calendar that may take hours. */
export const longJobSlot = 18
const httpsSlot = 19
// Before any other thread is there.
const rehearsalSlot = checkpointSlot
// What a thread may take beyond its own grace to write its last results and close.
const closingMs = 10_000
// Beyond it only a new process may help; systemd's watchdog then brings one.
const maxDownMs = 180_000

/**
 * The order of starts is that of need: the sandbox inbox before who delivers to it, the listener
 * for bounces before the first mail leaves.
 */
export async function openCrew(options: CrewOptions): Promise<Crew> {
  const { config, clock, isLate = false, isHeld = false, hasEndpoints, httpsPeers } = options
  letThreadsHaveHeaps()
  const { start, all, rehearsed, close: stopAll } = makeRoster(options)
  const senders = makeSenders()
  let threads: Supervised[] = []
  let inbound: Supervised | undefined
  let submission: Supervised | undefined
  const startOthers = async () => {
    void start('checkpoint', { slot: checkpointSlot, index: 0 })
    // Before any mail leaves: what it brings about may come back at once.
    const starting = config.inbound.enabled
      ? start('inbound', { slot: inboundSlot, index: 0 })
      : undefined
    sandboxPort = (await startSandbox())?.port
    inbound = await starting
    const ports = {
      ...(sandboxPort === undefined ? {} : { sandboxPort }),
      ...(inbound?.port === undefined ? {} : { inboundPort: inbound.port }),
    }
    const graceMs = config.outbound.shutdownGrace + closingMs
    const outbound = Array.from({ length: config.outbound.threads }, (_, index) =>
      start('outbound', { slot: firstOutboundSlot + index, index, ...ports }, graceMs),
    )
    if (await hasEndpoints()) void startCourier()
    // Stopped before them all, as what it takes has to leave by them.
    submission = config.submission.enabled
      ? await start('submission', { slot: submissionSlot, index: 0 })
      : undefined
    senders.begin(await Promise.all(outbound))
    threads = await all()
  }
  // Before the outbound threads it is stopped: what it leaves goes out after the next start.
  let courier: Promise<Supervised> | undefined
  const startCourier = (isLater = false) => {
    courier ??= start('courier', { slot: courierSlot, index: 0 }, closingMs, isLater)
    return courier
  }
  const startWhatIsMissing = async () => {
    if (courier !== undefined || others === undefined || !(await hasEndpoints())) return
    await startCourier(true)
    threads = await all()
  }
  const unwell = (forMs: number) => unwellOf(threads, clock.now(), forMs)
  let others: Promise<void> | undefined
  const complete = () => {
    others ??= startOthers()
    return others
  }
  const close = async () => {
    // What has begun to start is stopped too.
    await others?.catch(() => {})
    await stopAll()
  }
  // The listeners' URLs are asked for at once.
  const hasHttps = Object.keys(httpsPeers).length > 0
  const https = hasHttps ? start('https', { slot: httpsSlot, index: 0, httpsPeers }) : undefined
  let httpsPorts: Readonly<Record<string, number>> = {}
  let sandbox: Promise<Supervised> | undefined
  let sandboxPort: number | undefined
  const startSandbox = () => {
    if (config.outbound.route !== 'sandbox') return undefined
    sandbox ??= start('sandbox', { slot: sandboxSlot, index: 0 })
    return sandbox
  }
  try {
    if (isHeld) await rehearse(rehearsed(), config)
    else if (isLate) sandboxPort = (await startSandbox())?.port
    else {
      void startSandbox()
      await complete()
    }
    httpsPorts = (await https)?.ports ?? {}
  } catch (error) {
    await close()
    throw error
  }
  const { ring, gateOf, standing, contacts, retry } = senders
  return {
    ...{ ring, gateOf, standing, contacts, retry, httpsPorts },
    ...{ complete, startWhatIsMissing, unwell, close },
    get sandboxPort() {
      return sandboxPort
    },
    get inboundPort() {
      return inbound?.port
    },
    get submissionPorts() {
      return submission?.ports ?? {}
    },
    tick() {
      for (const thread of threads) thread.tick()
    },
    dyingThreads: () => threads.filter(({ isDying }) => isDying).map(({ name }) => name),
    healthy: () => unwell(maxDownMs).length === 0,
    reload: () => {
      for (const thread of threads) thread.send({ kind: 'reload' })
    },
  }
}

/**
 * Down and hung are told apart, as the first mends itself by a new start and the second does not.
 */
function unwellOf(threads: readonly Supervised[], now: number, forMs: number): FailingThread[] {
  return threads.flatMap(({ name: thread, downSince, silentMs }): FailingThread[] => {
    const downMs = downSince === undefined ? 0 : now - downSince
    if (downMs >= forMs) return [{ thread, state: 'down', forMs: downMs }]
    return silentMs >= forMs ? [{ thread, state: 'hung', forMs: silentMs }] : []
  })
}

/** The outbound threads as one, of which each domain is one thread's; nothing of them is there before `begin`. */
function makeSenders() {
  let threads: readonly Supervised[] = []
  // What fell due while they started: their first look may have been a moment earlier.
  let early: StreamDue[] | undefined = []
  const ring = (due: readonly StreamDue[]) => {
    if (early !== undefined) early.push(...due)
    else for (const thread of threads) thread.send({ kind: 'ring', due })
  }
  const standings = async (): Promise<ThreadStanding[]> => {
    const all = await Promise.all(threads.map((thread) => thread.standing()))
    return all.filter((standing) => standing !== undefined)
  }
  return {
    ring,
    begin(started: readonly Supervised[]) {
      const due = early ?? []
      threads = started
      early = undefined
      if (due.length > 0) ring(due)
    },
    async gateOf(stream: StreamKey): Promise<LiveGate | undefined> {
      const gates = await Promise.all(threads.map((thread) => thread.gateOf(stream)))
      return gates.find((gate) => gate !== undefined)
    },
    async standing(): Promise<OutboundStanding> {
      const found = await standings()
      return {
        sites: found.flatMap(({ sites }) => sites),
        accounts: found.flatMap(({ accounts }) => accounts),
      }
    },
    contacts: async (): Promise<Reachability[]> =>
      (await standings()).map(({ contact }) => contact),
    retry(lanes: RetriedLanes) {
      for (const thread of threads) thread.send({ kind: 'retry', lanes })
    },
  }
}

/** Starts threads, several at the same time, and stops them in reverse. */
function makeRoster({ config, dataDir, publicUrl, turns, backlog, ...options }: CrewOptions) {
  // In the order in which they are to be there.
  const opened: { starting: Promise<Supervised>; graceMs: number }[] = []
  const start = (
    kind: Kind,
    own: Pick<ThreadData, 'slot' | 'index' | 'sandboxPort' | 'inboundPort' | 'httpsPeers'>,
    graceMs = closingMs,
    isLater = false,
  ): Promise<Supervised> => {
    const { log, clock, metrics, onRing } = options
    const starting = supervise({
      name: threadName(kind, own.index),
      entry: entry(kind),
      resourceLimits: heaps[kind],
      data: { config, dataDir, publicUrl, turns, backlog, ...own },
      ...{ log, clock, metrics, onRing, isLater },
    })
    // A failure is heard of when all of them are waited for.
    starting.catch(() => {})
    opened.push({ starting, graceMs })
    return starting
  }
  /** One of each kind, for a rehearsal. */
  const rehearsed = () =>
    (['checkpoint', 'sandbox', 'inbound', 'outbound', 'courier', 'submission'] as const)
      .filter((kind) => kind !== 'sandbox' || config.outbound.route === 'sandbox')
      .map((kind) => ({
        ...{ name: kind, entry: entry(kind) },
        data: { config, dataDir, publicUrl, turns, backlog, slot: rehearsalSlot, index: 0 },
      }))
  return {
    ...{ start, rehearsed },
    all: () => Promise.all(opened.map(({ starting }) => starting)),
    async close() {
      // In reverse: the sandbox inbox outlives those who deliver to it.
      for (const { starting, graceMs } of opened.reverse().splice(0)) {
        // One that could not start has nothing to stop.
        const thread = await starting.catch(() => undefined)
        await thread?.stop(graceMs)
      }
    },
  }
}
