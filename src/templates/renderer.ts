import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { makeFairQueue } from './fair-queue.js'
import type { RenderJob, RenderOutcome } from './job.js'
import { type RenderThread, startRenderThread, type Ticket } from './render-thread.js'

export interface Renderer {
  /** Never rejects: what cannot be rendered, and why, is an outcome. */
  render(job: RenderJob): Promise<RenderOutcome>
  /** Finishes what the thread has begun; what still waits is `unavailable`. */
  close(): Promise<void>
}

export interface RendererDeps {
  log: Log
  clock: Clock
  /** The thread's file; tests have others. */
  entry?: URL
  /** Starts the thread with the first job: for those that seldom have one. */
  whenAsked?: boolean
}

const threadEntry = new URL('../threads/render.js', import.meta.url)
// Of variables, which are most of a job's memory here; one account gets half (a batch has up to 25 MiB).
const maxQueueBytes = 64 * 1024 * 1024
const jobBytes = 4096
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
export function openRenderer({
  log,
  clock,
  entry = threadEntry,
  whenAsked = false,
}: RendererDeps): Renderer {
  const waiting = makeFairQueue<Ticket>(maxQueueBytes)
  const alive = new Set<Promise<void>>()
  let thread: RenderThread | undefined
  let closed = false

  const start = () => {
    const started = startRenderThread(entry, log, {
      room: hand,
      ended(innocent, wasUp) {
        thread = undefined
        for (const ticket of innocent.reverse()) {
          waiting.putBack(ticket.job.accountId, ticket, ticket.bytes)
        }
        if (closed) refuseAll('the appliance is stopping')
        // Not again and again: the next job that comes tries it anew.
        else if (!wasUp) refuseAll('the renderer cannot start')
        else start()
      },
    })
    thread = started
    alive.add(started.gone)
    void started.gone.then(() => alive.delete(started.gone))
  }
  const hand = () => {
    while (thread?.hasRoom()) {
      const ticket = waiting.take()
      if (ticket === undefined) return
      if (clock.now() - ticket.queuedAt > maxWaitMs) refuse(ticket, 'the renderer is overloaded')
      else thread.render(ticket)
    }
  }
  const refuseAll = (cause: string) => {
    for (let t = waiting.take(); t !== undefined; t = waiting.take()) refuse(t, cause)
  }
  if (!whenAsked) start()

  return {
    render: (job) =>
      new Promise((settle) => {
        const bytes = jobBytes + (job.variables?.length ?? 0)
        const ticket = { job, bytes, queuedAt: clock.now(), settle }
        if (closed) return refuse(ticket, 'the appliance is stopping')
        if (!waiting.add(job.accountId, ticket, bytes))
          return refuse(ticket, 'too many are waiting')
        if (thread === undefined) start()
        hand()
      }),
    async close() {
      closed = true
      refuseAll('the appliance is stopping')
      thread?.stop()
      await Promise.all(alive)
    },
  }
}

const refuse = (ticket: Pick<Ticket, 'settle'>, cause: string) =>
  ticket.settle({ kind: 'unavailable', cause })
