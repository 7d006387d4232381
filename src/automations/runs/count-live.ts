import type { Read } from '../../store/index.js'
import type { Automation } from '../definition/index.js'
import { type LatelyCounted, makeCountLately } from './count-lately.js'
import type { RunsFilter } from './find-runs.js'
import { presentAtSteps, whileOneWaits } from './present.js'
import { latelyWaitsOf, type Waits, waitsOf } from './standing.js'

type Counted = Pick<Automation, 'id' | 'account_id' | 'running' | 'waiting'>

/** How many live runs fit, at most: where a step and a reason are asked for, the smaller of both counts. */
export async function countLive(
  read: Read,
  automation: Counted,
  { stepIds, wait }: RunsFilter,
): Promise<number> {
  const all = automation.running + automation.waiting
  const atSteps =
    stepIds === undefined ? all : sum((await presentAtSteps(read, automation.id, stepIds)).values())
  if (wait === undefined) return atSteps
  return Math.min(atSteps, waiting(await waitsOf(read, automation), wait))
}

const atStepsLately = makeCountLately<number>(whileOneWaits)

/** The same for a page, which does not wait for a long count: it then shows how many there are in all. */
export async function latelyCountLive(
  read: Read,
  automation: Counted,
  { stepIds, wait }: RunsFilter,
  now: number,
): Promise<number> {
  const all = automation.running + automation.waiting
  const known = <T>({ value, isAll }: LatelyCounted<T>, of: (value: T) => number) =>
    isAll ? of(value) : all
  const atSteps =
    stepIds === undefined
      ? all
      : known(
          await atStepsLately(
            `${automation.id} ${stepIds.join(' ')}`,
            { now, nothing: 0 },
            async (soFar) => {
              let others = 0
              for (const stepId of stepIds) {
                const found = await presentAtSteps(read, automation.id, [stepId], (_, runs) =>
                  soFar(others + runs, others + runs),
                )
                others += sum(found.values())
              }
              return others
            },
          ),
          (runs) => runs,
        )
  if (wait === undefined) return atSteps
  const waits = await latelyWaitsOf(read, automation, now)
  return Math.min(
    atSteps,
    known(waits, (some) => waiting(some, wait)),
  )
}

const sum = (counts: Iterable<number>) => [...counts].reduce((sum, count) => sum + count, 0)

const waiting = (waits: readonly Waits[], wait: string): number =>
  sum(
    waits
      .filter(({ kind, reason }) =>
        wait === 'held' ? kind === 'held' : kind === 'blocked' && reason === wait,
      )
      .map(({ runs }) => runs),
  )
