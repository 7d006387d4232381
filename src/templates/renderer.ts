import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { makeFairQueue } from './fair-queue.js'
import type {
  CompileJob,
  CompileOutcome,
  RenderJob,
  RenderOutcome,
  ThreadJob,
  ThreadOutcome,
} from './job.js'
import { type RenderThread, startRenderThread, type Ticket } from './render-thread.js'

export interface Renderer {
  /** Never rejects: a fault is an outcome. */
  render(job: RenderJob): Promise<RenderOutcome>
  render(job: CompileJob): Promise<CompileOutcome>
  /** Finishes the jobs that the thread has begun; jobs that still wait are `unavailable`. */
  close(): Promise<void>
}

export interface RendererDeps {
  log: Log
  clock: Clock
  /** The thread's file; tests have others. */
  entry?: URL
}

const threadEntry = new URL('../threads/render.js', import.meta.url)
// How many bytes of variables may wait, which are most of a job's memory here; one account gets half (a batch has up
// to 25 MiB).
const maxQueueBytes = 64 * 1024 * 1024
const jobBytes = 4096
// Most appliances render nothing for hours; a start takes a tenth of a second.
const idleMs = 600_000
// A client that has waited longer is gone.
const maxWaitMs = 10_000

/**
 * Renders templates in a thread of its own, so that no template holds up the API:
 *
 *     waiting ──(the thread is up and has room)──▶ with the thread ──▶ outcome
 *        ▲                                             │
 *        └────(another job ended the thread: retried)──┘
 *
 * A job that uses up its CPU time or breaks the thread fails alone; a new thread takes over.
 */
export function openRenderer({ log, clock, entry = threadEntry }: RendererDeps): Renderer {
  const waiting = makeFairQueue<Ticket>(maxQueueBytes)
  const alive = new Set<Promise<void>>()
  let thread: RenderThread | undefined
  let closed = false
  let usedAt = 0
  let upAt: number | undefined
  let forgetRest = () => {}

  /** Ends a thread that has had nothing to do for long; the next job starts another. */
  const planRest = (ms: number) => {
    forgetRest = clock.after(ms, () => {
      const restsAt = usedAt + idleMs
      if (clock.now() < restsAt) return planRest(restsAt - clock.now())
      const idle = thread
      thread = undefined
      idle?.stop()
    })
  }
  const start = () => {
    const started = startRenderThread(entry, log, {
      room() {
        upAt ??= clock.now()
        hand()
      },
      ended(innocent, wasUp) {
        for (const ticket of innocent.reverse()) {
          waiting.putBack(ticket.job.accountId, ticket, ticket.bytes)
        }
        // This thread was stopped for want of work, and may already have a successor.
        if (thread !== started) return hand()
        thread = undefined
        if (closed) refuseAll('the appliance is stopping')
        // It is not retried at once: the next job that comes tries again.
        else if (!wasUp) refuseAll('the renderer cannot start')
        else start()
      },
    })
    thread = started
    forgetRest()
    planRest(idleMs)
    alive.add(started.gone)
    void started.gone.then(() => alive.delete(started.gone))
  }
  const hand = () => {
    while (thread?.hasRoom()) {
      const ticket = waiting.take()
      if (ticket === undefined) return
      // The thread's start does not count as waiting: on a busy machine it takes seconds.
      const waitedMs = clock.now() - Math.max(ticket.queuedAt, upAt ?? 0)
      if (waitedMs > maxWaitMs) refuse(ticket, 'the renderer is overloaded')
      else thread.render(ticket)
    }
  }
  const refuseAll = (cause: string) => {
    for (let t = waiting.take(); t !== undefined; t = waiting.take()) refuse(t, cause)
  }
  return {
    render: ((job: ThreadJob) =>
      new Promise<ThreadOutcome>((settle) => {
        const bytes = jobBytes + sizeOf(job)
        const ticket = { job, bytes, queuedAt: clock.now(), settle }
        if (closed) return refuse(ticket, 'the appliance is stopping')
        if (!waiting.add(job.accountId, ticket, bytes))
          return refuse(ticket, 'too many are waiting')
        usedAt = clock.now()
        if (thread === undefined) {
          upAt = undefined
          start()
        }
        hand()
      })) as Renderer['render'],
    async close() {
      closed = true
      forgetRest()
      refuseAll('the appliance is stopping')
      thread?.stop()
      await Promise.all(alive)
    },
  }
}

const sizeOf = (job: ThreadJob) =>
  'document' in job ? JSON.stringify(job.document).length : (job.variables?.length ?? 0)

const refuse = (ticket: Pick<Ticket, 'settle'>, cause: string) =>
  ticket.settle({ kind: 'unavailable', cause })
