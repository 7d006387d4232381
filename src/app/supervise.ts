import { type ResourceLimits, Worker } from 'node:worker_threads'
import { type Clock, isRecent, pause } from '../clock/index.js'
import type { LiveGate, StreamDue, StreamKey } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { ThreadStanding } from '../outbound/index.js'
import { forgetTurn } from '../store/index.js'
import type { Metrics } from './metrics.js'
import type { ThreadData, ThreadOrder, ThreadPorts, ThreadReport } from './thread-data.js'
import { tellEveryMs } from './thread-meter.js'

/** A worker thread that is kept alive: its work is in the database, so a new thread goes on with it. */
export interface Supervised {
  readonly name: string
  /** Where the thread listens, if it does. */
  readonly port: number | undefined
  /** The ports of a thread that listens at several, by name. */
  readonly ports: ThreadPorts
  /** Since when no thread of it works; undefined while one does. */
  readonly downSince: number | undefined
  /** Whether it has died several times within the last minutes, however soon it was back. */
  readonly isDying: boolean
  /** For how long, by ticks, the running thread has said nothing: its event loop does not turn. */
  readonly silentMs: number
  /** To be called every `tellEveryMs`. */
  tick(): void
  send(order: ThreadOrder): void
  /** At which gate a stream's mail stands; undefined when the thread has none of it, or is down. */
  gateOf(stream: StreamKey): Promise<LiveGate | undefined>
  /** Which sites and accounts it is busy with; undefined when it has none, or is down. */
  standing(): Promise<ThreadStanding | undefined>
  /** Resolves when nothing is under way there for duties of other nodes any more, after two seconds at most. */
  letGo(): Promise<void>
  /** Gives the thread opens and clicks to record; resolves with false when it died or ends without them. */
  record(hits: string): Promise<boolean>
  /** Asks the thread to end and waits for it; after `graceMs` it is terminated. */
  stop(graceMs: number): Promise<void>
}

export interface SuperviseOptions {
  name: string
  entry: URL
  data: ThreadData
  /** Limits of the thread's heap. Without any, V8 lets as much garbage pile up as the machine's memory has room for. */
  resourceLimits?: ResourceLimits
  log: Log
  clock: Clock
  /** Takes what the thread counts. */
  metrics: Pick<Metrics, 'add' | 'forget' | 'restarted'>
  /**
   * The thread is started while others work already: if it cannot start at once, it is tried again, as if it had died.
   */
  isLater?: boolean
  /** Takes the mail that the thread has accepted. */
  onRing?: (due: readonly StreamDue[]) => void
}

// The first restart is nearly at once, as mail waits; a thread that dies each time must not fill the log and the
// processor.
const firstBackoffMs = 250
const maxBackoffMs = 30_000
// A thread that ran this long had not failed at once: its next failure starts from the beginning.
const healthyMs = 60_000
// So many deaths within this time are no accident.
const manyDeaths = 3
const dyingMs = 900_000

/** Starts the thread and resolves when it is ready; rejects if the first start fails. */
export async function supervise(options: SuperviseOptions): Promise<Supervised> {
  const { name, clock, data, metrics } = options
  const log = options.log.child({ thread: name })
  let worker: Worker | undefined
  let port: number | undefined
  let ports: ThreadPorts = {}
  let downSince: number | undefined
  // Ticks and not times: so a machine that slept, or a clock that was set, makes no thread silent.
  let silentTicks = 0
  const deaths: number[] = []
  let started = options.isLater === true
  let stopping = false
  let ended: Promise<void>
  let endRecording = () => {}
  let backoffMs = firstBackoffMs

  const start = async () => {
    // A thread that listened keeps its port over a restart: others know it.
    const kept = { listenPorts: ports, ...(port === undefined ? {} : { listenPort: port }) }
    const heard = () => {
      silentTicks = 0
    }
    const born = launch({ ...options, heard }, { ...data, ...kept })
    worker = born.worker
    ended = born.ended.then((cause) => {
      forgetTurn(data.turns, data.slot)
      endRecording()
      downSince ??= clock.now()
      // A thread that cannot even start the first time is a matter for the operator.
      if (started && !stopping) {
        deaths.push(clock.now())
        deaths.splice(0, deaths.length - manyDeaths)
        metrics.restarted(name)
        void restart(cause)
      }
    })
    const startedAt = clock.now()
    const ready = await born.ready
    port = ready.port
    ports = ready.ports ?? {}
    downSince = undefined
    heard()
    void ended.then(() => {
      if (!isRecent(startedAt, clock.now(), healthyMs)) backoffMs = firstBackoffMs
    })
  }

  const restart = async (cause: unknown): Promise<void> => {
    log.error({ error: cause, backoffMs }, 'A thread died; another one is started')
    await pause(clock, backoffMs)
    backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
    if (stopping) return
    await start().then(
      () => log.info({}, 'A thread works again'),
      // The thread's exit, which `ended` sees, starts the next one.
      () => {},
    )
  }

  // The thread's exit, which `ended` sees, starts the next one.
  await start().catch((error: unknown) => {
    if (!started) throw error
  })
  started = true
  return {
    name,
    get silentMs() {
      return downSince === undefined ? silentTicks * tellEveryMs : 0
    },
    tick() {
      silentTicks++
    },
    get port() {
      return port
    },
    get ports() {
      return ports
    },
    get isDying() {
      const [first = 0] = deaths
      return deaths.length === manyDeaths && isRecent(first, clock.now(), dyingMs)
    },
    get downSince() {
      return downSince
    },
    send: (order) => worker?.postMessage(order),
    gateOf: async (stream) => (await ask<'gate'>(worker, clock, { kind: 'gate', stream }))?.gate,
    standing: async () => (await ask<'standing'>(worker, clock, { kind: 'standing' }))?.standing,
    async letGo() {
      await ask<'let-go'>(worker, clock, { kind: 'let-go' })
    },
    record(hits) {
      const taking = worker
      if (taking === undefined || downSince !== undefined || stopping) return Promise.resolve(false)
      return new Promise((resolve) => {
        const question = ++questions
        const done = (isTaken: boolean) => {
          asking.delete(question)
          resolve(isTaken)
        }
        asking.set(question, () => done(true))
        endRecording = () => done(false)
        taking.postMessage({ kind: 'hits', question, hits } satisfies ThreadOrder)
      })
    },
    async stop(graceMs) {
      stopping = true
      worker?.postMessage({ kind: 'stop' } satisfies ThreadOrder)
      const cancel = clock.after(graceMs, () => void worker?.terminate())
      await ended
      cancel()
    },
  }
}

// A page or a command asks; a thread that is busy for longer has no news that is worth the wait.
const answerWithinMs = 2_000
let questions = 0
/** Who waits for the answer to which question: a list of what waits asks about all of its lanes at once. */
const asking = new Map<number, (answer: ThreadReport) => void>()

/** Asks a thread a question that it answers from memory; undefined when it does not answer within two seconds. */
function ask<K extends 'gate' | 'standing' | 'let-go'>(
  worker: Worker | undefined,
  clock: Clock,
  order: Omit<Extract<ThreadOrder, { kind: K }>, 'question'>,
): Promise<Extract<ThreadReport, { kind: K }> | undefined> {
  if (worker === undefined) return Promise.resolve(undefined)
  const question = ++questions
  return new Promise((resolve) => {
    const done = (answer: ThreadReport | undefined) => {
      cancel()
      asking.delete(question)
      resolve(answer as Extract<ThreadReport, { kind: K }> | undefined)
    }
    const cancel = clock.after(answerWithinMs, () => done(undefined))
    asking.set(question, done)
    worker.postMessage({ ...order, question })
  })
}

/**
 * The log goes to the main thread's stderr by itself. The thread's own streams are not collected, as a busy thread
 * would fill memory.
 */
function launch(
  { name, entry, resourceLimits, metrics, onRing, heard }: SuperviseOptions & { heard: () => void },
  data: ThreadData,
) {
  let worker: Worker
  try {
    worker = new Worker(entry, {
      workerData: data,
      name,
      stdout: false,
      stderr: false,
      // Node would close what the thread leaves open, such as the database (`store/sqlite/checkpoint.ts`).
      trackUnmanagedFds: false,
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    })
  } catch (error) {
    // For example, the machine has no thread left: this one has never lived, and the next one is tried.
    const ready = Promise.reject<Extract<ThreadReport, { kind: 'ready' }>>(error)
    return { worker: undefined, ready, ended: Promise.resolve<unknown>(error) }
  }
  let cause: unknown = new Error('The thread ended by itself')
  worker.on('error', (error: Error) => {
    // On its way between threads an error loses its class. An `ApiError` comes from the store: a full disk.
    const isTold = error.name === 'OperatorError' || error.name === 'ApiError'
    cause = isTold ? new OperatorError(error.message, { cause: error.cause }) : error
  })
  const ended = new Promise<unknown>((resolve) => {
    worker.once('exit', () => {
      metrics.forget(name)
      resolve(cause)
    })
  })
  const ready = new Promise<Extract<ThreadReport, { kind: 'ready' }>>((resolve, reject) => {
    worker.on('message', (report: ThreadReport) => {
      heard()
      if (report.kind === 'ready') resolve(report)
      if (report.kind === 'ring') onRing?.(report.due)
      if (report.kind === 'metrics') metrics.add(name, report.snapshot)
      if ('question' in report) asking.get(report.question)?.(report)
    })
    void ended.then(reject)
  })
  return { worker, ready, ended }
}
