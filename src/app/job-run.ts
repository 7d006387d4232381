import { counted } from '../amounts/index.js'
import { beginRun, type EndOfRun, endRun, type JobRun } from '../calendar/index.js'
import { type Clock, pause } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { isPassing, type Store, type Tx } from '../store/index.js'
import type { JobThreads, ThreadEnd } from './job-threads.js'

export interface JobRunDeps {
  store: Store
  clock: Clock
  log: Log
  threads: Pick<JobThreads, 'run'>
  /** Aborts when the appliance stops. */
  signal: AbortSignal
}

export interface RunOrder {
  name: string
  dueAt: number | null
  limitMs: number
  /** Written in one transaction with the row, when the run begins and when it has ended. */
  alongside(tx: Tx, now: number): Promise<void>
}

const againMs = 60_000

/** Runs a job once with its row; rejects when the beginning cannot be written, and then nothing was started. */
export async function runRecorded(deps: JobRunDeps, order: RunOrder): Promise<JobRun> {
  const { store, clock, log } = deps
  const { name, dueAt, limitMs } = order
  const beganAt = clock.now()
  const id = await store.write(async (tx) => {
    await order.alongside(tx, beganAt)
    return await beginRun(tx, { name, dueAt, beganAt })
  })
  log.debug({ job: name }, 'A job begins')
  const thread = await deps.threads.run(name, { limitMs })
  const end = endOf(thread, limitMs, clock.now())
  tellEnd(log, order, thread, end)
  await keepEnd(deps, order, id, end)
  const { said, endedAt, result, error } = end
  return {
    id,
    name,
    dueAt,
    beganAt,
    endedAt,
    result,
    summary: said?.summary ?? null,
    problems: said?.problems ?? [],
    figures: said?.figures ?? {},
    error: error ?? null,
  }
}

/**
 * Four ways to end: the job said how it went or what it misses, it was stopped, it took too long, or it died without a
 * word.
 */
function endOf({ said, error, told }: ThreadEnd, limitMs: number, endedAt: number): EndOfRun {
  const end = { endedAt, said }
  if (told === 'stop') {
    return {
      ...end,
      result: 'cut off',
      error: 'The appliance was stopped while the job was under way',
    }
  }
  if (told === 'limit') {
    const minutes = Math.round(limitMs / 60_000)
    const message = `The job was ended because it had taken longer than ${counted(minutes, 'minute')}`
    return { ...end, result: 'timed out', error: message }
  }
  if (error !== undefined) return { ...end, result: 'failed', error: messageOf(error) }
  if (said !== undefined) return { ...end, result: said.notSetUp ? 'not set up' : 'done' }
  return { ...end, result: 'failed', error: 'The thread ended and did not say how the run went' }
}

/** A run that is cut off is no fault: it comes again. */
function tellEnd(
  log: Log,
  { name: job, dueAt }: RunOrder,
  thread: ThreadEnd,
  { result, said, error }: EndOfRun,
): void {
  if (result === 'done') log.info({ job, ...said?.figures }, `A job is done: ${said?.summary}`)
  else if (result === 'not set up') log.info({ job }, `A job is not set up: ${said?.summary}`)
  else if (result === 'cut off')
    log.info(
      { job },
      dueAt === null
        ? 'A job that was run by hand is cut off'
        : 'A job is cut off; it runs again after the start',
    )
  else {
    const cause = thread.error === undefined ? { cause: error } : { error: thread.error }
    log.error({ job, ...cause }, result === 'failed' ? 'A job failed' : 'A job took too long')
  }
}

/** The row says 'running' until the end is written, so this waits while the disk is full. */
async function keepEnd(
  deps: JobRunDeps,
  order: RunOrder,
  id: number,
  end: EndOfRun,
): Promise<void> {
  const { store, clock, log, signal } = deps
  for (;;) {
    try {
      await store.write(async (tx) => {
        await order.alongside(tx, clock.now())
        await endRun(tx, id, end)
      })
      return
    } catch (error) {
      log.error({ error, job: order.name }, "The end of a job's run cannot be written")
      if (signal.aborted || !isPassing(error)) return
    }
    await pause(clock, againMs, signal)
  }
}
