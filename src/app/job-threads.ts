import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type Bree from 'bree'
import type { Plans } from '../billing/index.js'
import type { JobResult } from '../calendar/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { forgetTurn } from '../store/index.js'
import type { JobReport } from './job.js'
import type { Metrics } from './metrics.js'

/** Threads that live as long as their work lasts, each started by its name and never beside itself. */
export interface JobThreads {
  /** Starts the thread; resolves when it has ended. The caller first asks whether it runs already. */
  run(name: string, options?: { limitMs?: number }): Promise<ThreadEnd>
  isRunning(name: string): boolean
  post(name: string, message: string): void
  close(): Promise<void>
}

export interface ThreadEnd {
  /** What the work has said of itself. */
  said?: JobResult
  error?: unknown
  /** Why the thread was told to end: it took too long, or the appliance stops. */
  told?: 'limit' | 'stop'
}

export interface JobThread {
  name: string
  /** The thread's place in the writers' turns. */
  slot: number
  /** Default: the file of that name in `src/jobs/`. */
  entry?: URL
}

export interface JobThreadsOptions {
  config: Config
  configFile?: string | undefined
  dataDir: string
  plans: Plans
  turns: SharedArrayBuffer
  backlog: SharedArrayBuffer
  log: Log
  clock: Clock
  metrics: Pick<Metrics, 'add' | 'forget'>
  ring: (due: readonly StreamDue[]) => void
  threads: readonly JobThread[]
}

// A thread that was told to end and does not is terminated; its transactions are short, and begun anew.
const graceMs = 10_000
// Without the first limit a job that makes a million short-lived rows lets its heap grow by 48 MB, and without the
// second by 30 MB of old garbage (`thread-heap.ts`).
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 1_024 }

/**
 * Bree starts a worker thread for each run, and does nothing else: the calendar decides when jobs are due, by a clock
 * that tests can move.
 */
export function openJobThreads(options: JobThreadsOptions): JobThreads {
  const { config, configFile, dataDir, plans, turns, backlog } = options
  const { log, clock, metrics, ring, threads } = options
  const running = new Map<string, { end: ThreadEnd; ended: () => void }>()
  let closing = false
  const makeBree = () => {
    // Loaded with the first job: an appliance may be without one for hours, and Bree takes 1 MB.
    const Threads: typeof Bree = createRequire(import.meta.url)('bree')
    const made = new Threads({
      root: false,
      doRootCheck: false,
      logger: { info() {}, warn() {}, error() {} },
      errorHandler(error, { name }) {
        const end = running.get(name)?.end
        // Bree calls this twice: the second error is that the thread has ended.
        if (end !== undefined && end.told === undefined) end.error ??= error
      },
      workerMessageHandler(data) {
        const { name } = data
        const message = data.message as JobReport
        if (message === 'cancelled') return
        if (message.kind === 'ring') return ring(message.due)
        if (message.kind === 'metrics') return metrics.add(name, message.snapshot)
        const end = running.get(name)?.end
        if (end !== undefined) end.said = message.said
      },
      jobs: threads.map(({ name, slot, entry }) => ({
        name,
        path: fileURLToPath(entry ?? new URL(`../jobs/${name}.js`, import.meta.url)),
        timeout: false,
        worker: {
          workerData: { config, configFile, dataDir, plans, turns, backlog, slot },
          name,
          resourceLimits,
          // Otherwise Bree takes a path with '+', as releases have it, for the code itself.
          eval: false,
        },
      })),
    })
    made.on('worker deleted', (name: string) => {
      const thread = threads.find((one) => one.name === name)
      metrics.forget(name)
      if (thread !== undefined) forgetTurn(turns, thread.slot)
      running.get(name)?.ended()
    })
    return made
  }
  let bree: Bree | undefined
  // The thread is told first and terminated later: the job ends its transaction and writes what it has done so far.
  const tellToEnd = (name: string, told: 'limit' | 'stop') => {
    const end = running.get(name)?.end
    if (end !== undefined) end.told ??= told
    bree?.workers.get(name)?.postMessage('cancel')
    return clock.after(graceMs, () => void bree?.workers.get(name)?.terminate())
  }
  return {
    isRunning: (name) => running.has(name),
    post: (name, message) => bree?.workers.get(name)?.postMessage(message),
    async run(name, { limitMs } = {}) {
      if (closing) return { told: 'stop' }
      if (running.has(name)) throw new Error(`${name} runs already`)
      const end: ThreadEnd = {}
      const ended = new Promise<void>((resolve) => running.set(name, { end, ended: resolve }))
      let cancel = () => {}
      if (limitMs !== undefined) {
        cancel = clock.after(limitMs, () => {
          cancel = tellToEnd(name, 'limit')
        })
      }
      try {
        bree ??= makeBree()
        await bree.run(name)
        // It was told to stop before the thread was there.
        if (closing) {
          cancel()
          cancel = tellToEnd(name, 'stop')
        }
        await ended
      } catch (error) {
        end.error ??= error
      } finally {
        cancel()
        running.delete(name)
      }
      return end
    },
    async close() {
      closing = true
      for (const { end } of running.values()) end.told ??= 'stop'
      if (bree === undefined) return
      const { workers } = bree
      const terminate = clock.after(graceMs, () => {
        for (const worker of workers.values()) void worker.terminate()
      })
      await bree
        .stop()
        .catch((error) => log.warn({ reason: messageOf(error) }, 'A job was cut off'))
      terminate()
    },
  }
}
