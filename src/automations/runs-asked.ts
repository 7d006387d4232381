import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { type RunsFilter, statusesIn, stepIdsOf } from './runs/index.js'
import { endStatuses } from './runs/status.js'

interface RunsAskedFor {
  status?: string | undefined
  step?: string | undefined
  version?: number | undefined
  reason?: string | undefined
}

/** What a list of runs is asked for, as a search of one index. Throws a 422 for what no index has, or no step is. */
export async function runsFilterOf(
  read: Read,
  automationId: string,
  { status, step, version, reason }: RunsAskedFor,
): Promise<RunsFilter> {
  if (step !== undefined) {
    if (status !== undefined || reason !== undefined) {
      throw refused('`step` finds the runs that are there now: leave out `status` and `reason`')
    }
    const stepIds = await stepIdsOf(read, automationId, { key: step, version })
    const where = version === undefined ? 'The automation' : `Version ${version}`
    if (stepIds.length === 0) throw refused(`${where} has no step "${step}" that was ever enabled`)
    return { by: 'step', stepIds }
  }
  if (version !== undefined) throw refused('`version` goes with `step`: name the step, too')
  if (reason === undefined) return { by: 'status', statuses: statusesIn(status) }
  const end = endStatuses.find((one) => one === status)
  if (end === undefined) {
    throw refused(`\`reason\` goes with one status by which runs end: ${endStatuses.join(', ')}`)
  }
  return { by: 'end', status: end, reason }
}

const refused = (message: string) => new ApiError('validation_error', message, { status: 422 })
