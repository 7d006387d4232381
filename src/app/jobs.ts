import { fileURLToPath } from 'node:url'
import Bree from 'bree'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { forgetTurn } from '../store/index.js'
import { expandSlot } from './crew.js'
import type { JobReport } from './job.js'

/** Long work that comes now and then, each kind in a thread that lives while there is some. */
export interface Jobs {
  /** Starts the expansion of campaigns; if it is under way, it is started again when it has ended. */
  expand(): void
  close(): Promise<void>
}

export interface JobsOptions {
  config: Config
  dataDir: string
  turns: SharedArrayBuffer
  backlog: SharedArrayBuffer
  log: Log
  clock: Clock
  ring: (due: readonly StreamDue[]) => void
}

// A job that does not end by then is terminated; its transactions are short, and begun anew.
const closingMs = 10_000
const path = fileURLToPath(new URL('../jobs/expand.js', import.meta.url))

export function openJobs(options: JobsOptions): Jobs {
  const { config, dataDir, turns, backlog, log, clock, ring } = options
  const workerData = { config, dataDir, turns, backlog, slot: expandSlot }
  let running = false
  let again = false
  let closing = false
  const bree = new Bree({
    root: false,
    doRootCheck: false,
    logger: { info() {}, warn() {}, error() {} },
    errorHandler: (error) => log.error({ error }, 'The expansion of campaigns failed'),
    workerMessageHandler(data) {
      const message = data.message as JobReport
      if (message !== 'cancelled') ring(message.due)
    },
    jobs: [{ name: 'expand', path, timeout: false, worker: { workerData, name: 'expand' } }],
  })
  bree.on('worker deleted', () => {
    running = false
    forgetTurn(turns, expandSlot)
    if (again && !closing) start()
  })
  const start = () => {
    running = true
    again = false
    bree.run('expand').catch((error: unknown) => {
      running = false
      log.error({ error }, 'A job does not start')
    })
  }
  return {
    expand() {
      if (closing) return
      // What it has read already it may not look at again.
      if (running) again = true
      else start()
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
