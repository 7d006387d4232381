import { type Clock, pause } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { holds } from '../nodes/index.js'
import { isPassing, type Store } from '../store/index.js'
import { type AccountTask, changeState, findTask, liveTasks } from './task.js'

/**
 * Does the next piece of a task, with its progress in the same transaction, which also checks again whether the task
 * is wanted. Resolves with whether the task is done; `later`: the rest waits for others, and is tried again.
 */
export type Step = (task: AccountTask) => Promise<boolean | 'later'>

/** Tasks of a kind that are done a piece at a time. */
export interface StepRuns {
  /** Begins to work at a task, unless that is under way. */
  takeUp(task: Pick<AccountTask, 'id' | 'accountId'>): void
  /** Takes up tasks that a stop or a kill has interrupted; resolves with whether any task is under way. */
  resume(): Promise<boolean>
  close(): Promise<void>
}

interface StepDeps {
  store: Store
  clock: Clock
  log: Log
}

const againMs = 10_000
// The rest between pieces, in which others write.
const restMs = 20

/**
 * Works at the tasks of a kind until each has ended or is not wanted at present. `tries`: how often a piece is tried
 * after a fault that is not known to pass.
 */
export function makeStepRuns(
  deps: StepDeps,
  kind: AccountTask['kind'],
  step: Step,
  { tries = 1 }: { tries?: number } = {},
): StepRuns {
  const { store, clock, log } = deps
  const closing = new AbortController()
  const { signal } = closing
  const running = new Map<number, Promise<void>>()

  const work = async ({ id, accountId }: Pick<AccountTask, 'id' | 'accountId'>) => {
    let faults = 0
    // Where the work has moved to another node, that node takes it up within some seconds.
    while (!signal.aborted && holds(store.node, 'chores')) {
      const task = await findTask(store.read, accountId, id)
      if (task.state !== 'running') return
      try {
        const did = await step(task)
        if (did === true) return await end(deps, task, 'done')
        faults = 0
        await pause(clock, did === 'later' ? againMs : restMs, signal)
      } catch (error) {
        const isToWait = isToComeAgain(error)
        if (!isToWait && (error instanceof ApiError || ++faults >= tries)) {
          return await fail(deps, task, error)
        }
        if (!isToWait) log.error({ error, taskId: task.id }, 'A piece of a task is tried again')
        await pause(clock, againMs, signal)
      }
    }
  }
  const takeUp = (task: Pick<AccountTask, 'id' | 'accountId'>) => {
    if (running.has(task.id) || signal.aborted || !holds(store.node, 'chores')) return
    const run = work(task)
      .catch((error) => log.error({ error, taskId: task.id }, 'A task waits for the next start'))
      .finally(() => running.delete(task.id))
    running.set(task.id, run)
  }
  return {
    takeUp,
    async resume() {
      const live = await liveTasks(store.read, kind)
      for (const task of live) takeUp(task)
      return live.length > 0
    },
    async close() {
      closing.abort()
      await Promise.allSettled(running.values())
    },
  }
}

const isToComeAgain = (error: unknown) =>
  error instanceof ApiError ? error.code === 'service_unavailable' : isPassing(error)

async function fail(deps: StepDeps, task: AccountTask, error: unknown): Promise<void> {
  const isRefusal = error instanceof ApiError
  if (!isRefusal) deps.log.error({ error, taskId: task.id }, 'A task has failed')
  const reason = isRefusal
    ? error.message
    : 'An error of the appliance; the operator finds it in the log'
  await end(deps, task, 'failed', reason)
}

/** Ends a task that is still running; one that was paused or stopped meanwhile stays so. */
async function end(
  { store, clock }: StepDeps,
  { id, accountId }: AccountTask,
  to: 'done' | 'failed',
  reason?: string,
): Promise<void> {
  await store.write(async (tx) => {
    const { state, done, total, result } = await findTask(tx, accountId, id)
    if (state !== 'running') return
    await changeState(
      tx,
      { id, accountId },
      {
        from: ['running'],
        to,
        endedAt: clock.now(),
        // People may have come and gone since they were counted.
        total: to === 'done' ? done : total,
        result: reason === undefined ? result : { ...result, reason },
      },
    )
  }, accountId)
}
