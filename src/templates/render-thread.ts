import { Worker } from 'node:worker_threads'
import { type CpuClock, openCpuClock } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import {
  limitFault,
  type RenderOrder,
  type RenderReport,
  type TemplateFault,
  type ThreadJob,
  type ThreadOutcome,
} from './job.js'

/** A job and where its outcome goes. */
export interface Ticket {
  job: ThreadJob
  bytes: number
  queuedAt: number
  settle(outcome: ThreadOutcome): void
}

/** One run of the render thread, which ends when it is stopped, or by a job's fault. */
export interface RenderThread {
  /** True when it is up and has fewer jobs than it may have at once. */
  hasRoom(): boolean
  render(ticket: Ticket): void
  /** Finishes the jobs it has. */
  stop(): void
  /** Resolves when the thread is gone. */
  gone: Promise<void>
}

interface RenderThreadEvents {
  room(): void
  /**
   * The thread takes no more jobs. The job that ended it is settled; innocent jobs are handed back in their order.
   * `wasUp`: false if it could not even start.
   */
  ended(innocent: Ticket[], wasUp: boolean): void
}

// Enough that the thread never waits for the main one, few enough that a slow job delays few others.
const maxJobs = 4
// The budget (budget.ts) stops a job long before; these limits catch what it misses.
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }
const maxSerial = 2 ** 31 - 1

/**
 * Starts a thread that renders. When a template takes too long, the thread is killed and the jobs that it had not
 * begun are handed back.
 */
export function startRenderThread(entry: URL, log: Log, events: RenderThreadEvents): RenderThread {
  const current = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(entry, { name: 'render', workerData: current, resourceLimits })
  const jobs = new Map<number, Ticket>()
  let cpu: CpuClock | undefined
  let watch: Watch | undefined
  let last = 0
  let ended = false
  let cause: unknown

  const end = (guilty: number, fault: TemplateFault) => {
    if (ended) return
    ended = true
    watch?.rest()
    cpu?.close()
    jobs.get(guilty)?.settle({ kind: 'failed', fault })
    jobs.delete(guilty)
    events.ended([...jobs.values()], watch !== undefined)
  }
  const kill = (serial: number) => {
    log.warn({ accountId: jobs.get(serial)?.job.accountId }, 'A template took too long to render')
    end(serial, limitFault('it takes too long'))
    void worker.terminate()
  }

  worker.on('message', (report: RenderReport) => {
    // Jobs that a given-up thread still answers are already settled, or with the next thread.
    if (ended) return
    if (report.kind === 'ready') {
      cpu = openCpuClock(report.cpuFile)
      watch = makeWatch(current, cpu, kill)
    } else {
      jobs.get(report.serial)?.settle(report.outcome)
      jobs.delete(report.serial)
      if (jobs.size === 0) watch?.rest()
    }
    events.room()
  })
  worker.on('error', (error) => {
    cause = error
  })
  const gone = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      if (cause !== undefined) log.error({ error: cause }, 'The thread that renders templates died')
      end(Atomics.load(current, 0), limitFault(reasonOf(cause)))
      resolve()
    })
  })

  return {
    gone,
    hasRoom: () => watch !== undefined && !ended && jobs.size < maxJobs,
    render(ticket) {
      last = (last % maxSerial) + 1
      jobs.set(last, ticket)
      worker.postMessage({ kind: 'render', serial: last, job: ticket.job } satisfies RenderOrder)
      watch?.look()
    },
    stop: () => worker.postMessage({ kind: 'stop' } satisfies RenderOrder),
  }
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return 'it uses too much memory'
  return `it breaks the renderer (${messageOf(cause).slice(0, 100)})`
}

// At worst a job is first seen after one tick, and over its limit one tick late.
const tickMs = 10
const maxCpuMs = 70

interface Watch {
  /** Looks until `rest`. */
  look(): void
  rest(): void
}

/**
 * Watches from the main thread the job that the render thread is working on, because in some code (parsing, regular
 * expressions) that thread cannot check itself. Calls `exceeded` when one job has used up its CPU time.
 */
function makeWatch(current: Int32Array, cpu: CpuClock, exceeded: (serial: number) => void): Watch {
  let timer: NodeJS.Timeout | undefined
  let seen = 0
  let seenCpuMs = 0
  const tick = () => {
    const serial = Atomics.load(current, 0)
    if (serial === 0 || serial !== seen) {
      seen = serial
      seenCpuMs = serial === 0 ? 0 : cpu.ms()
    } else if (cpu.ms() - seenCpuMs >= maxCpuMs) exceeded(serial)
  }
  return {
    look() {
      // Not the appliance's clock: CPU is used up in real time, even if a test moves that clock.
      timer ??= setInterval(tick, tickMs)
    },
    rest() {
      clearInterval(timer)
      timer = undefined
      seen = 0
    },
  }
}
