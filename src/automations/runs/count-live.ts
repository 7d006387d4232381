import type { Read } from '../../store/index.js'
import type { Automation } from '../definition/index.js'
import type { RunsFilter } from './find-runs.js'
import { presentAtSteps } from './present.js'
import { waitsOf } from './standing.js'

/** How many live runs fit, at most: where a step and a reason are asked for, the fewer of both. */
export async function countLive(
  read: Read,
  automation: Pick<Automation, 'id' | 'account_id' | 'running' | 'waiting'>,
  { stepIds, wait }: RunsFilter,
): Promise<number> {
  const all = automation.running + automation.waiting
  const sum = (counts: Iterable<number>) => [...counts].reduce((sum, count) => sum + count, 0)
  const atSteps =
    stepIds === undefined ? all : sum((await presentAtSteps(read, automation.id, stepIds)).values())
  if (wait === undefined) return atSteps
  const waits = await waitsOf(read, automation)
  const those = waits.filter(({ kind, reason }) =>
    wait === 'held' ? kind === 'held' : kind === 'blocked' && reason === wait,
  )
  return Math.min(atSteps, sum(those.map(({ runs }) => runs)))
}
