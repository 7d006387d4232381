import { fileURLToPath } from 'node:url'
import Bree from 'bree'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { forgetTurn } from '../store/index.js'
import { automateSlot, expandSlot } from './crew.js'
import type { JobReport } from './job.js'
import type { Metrics } from './metrics.js'

/** Long work that comes now and then, each kind in a thread that lives while there is some. */
export interface Jobs {
  /** Starts the expansion of campaigns; if it is under way, it is started again when it has ended. */
  expand(): void
  /** Starts the engine of automations; if it is under way, it looks for what is due at once. */
  automate(): void
  close(): Promise<void>
}

export interface JobsOptions {
  config: Config
  dataDir: string
  turns: SharedArrayBuffer
  backlog: SharedArrayBuffer
  log: Log
  clock: Clock
  metrics: Pick<Metrics, 'add' | 'forget'>
  ring: (due: readonly StreamDue[]) => void
  /** The engine of automations has ended: whoever knows when the next step is due starts it again. */
  onAutomated: () => void
}

// A job that does not end by then is terminated; its transactions are short, and begun anew.
const closingMs = 10_000
// Without it a job that makes a million short-lived rows lets its heap grow by 48 MB.
const resourceLimits = { maxYoungGenerationSizeMb: 8 }
const pathOf = (name: JobName) => fileURLToPath(new URL(`../jobs/${name}.js`, import.meta.url))
const slots = { expand: expandSlot, automate: automateSlot } as const
type JobName = keyof typeof slots
const names: readonly JobName[] = ['expand', 'automate']

export function openJobs(options: JobsOptions): Jobs {
  const { config, dataDir, turns, backlog, log, clock, metrics, ring, onAutomated } = options
  const running = new Set<JobName>()
  const broken = new Set<string>()
  let expandAgain = false
  let closing = false
  const bree = new Bree({
    root: false,
    doRootCheck: false,
    logger: { info() {}, warn() {}, error() {} },
    errorHandler(error, { name }) {
      broken.add(name)
      log.error({ error, job: name }, 'A job failed')
    },
    workerMessageHandler(data) {
      const message = data.message as JobReport
      if (message === 'cancelled') return
      if (message.kind === 'ring') ring(message.due)
      else metrics.add(data.name, message.snapshot)
    },
    jobs: names.map((name) => {
      const workerData = { config, dataDir, turns, backlog, slot: slots[name] }
      return {
        name,
        path: pathOf(name),
        timeout: false,
        worker: { workerData, name, resourceLimits },
      }
    }),
  })
  bree.on('worker deleted', (name: JobName) => {
    running.delete(name)
    metrics.forget(name)
    forgetTurn(turns, slots[name])
    // One that broke is begun anew when its chore looks, not at once and for ever.
    if (closing || broken.delete(name)) return
    if (name === 'automate') onAutomated()
    else if (expandAgain) start('expand')
  })
  const start = (name: JobName) => {
    running.add(name)
    if (name === 'expand') expandAgain = false
    bree.run(name).catch((error: unknown) => {
      running.delete(name)
      log.error({ error, job: name }, 'A job does not start')
    })
  }
  return {
    expand() {
      if (closing) return
      // What it has read already it may not look at again.
      if (running.has('expand')) expandAgain = true
      else start('expand')
    },
    automate() {
      if (closing) return
      if (running.has('automate')) bree.workers.get('automate')?.postMessage('ring')
      else start('automate')
    },
    async close() {
      closing = true
      const terminate = clock.after(closingMs, () => {
        for (const worker of bree.workers.values()) void worker.terminate()
      })
      await bree
        .stop()
        .catch((error) => log.warn({ reason: messageOf(error) }, 'A job was cut off'))
      terminate()
    },
  }
}
