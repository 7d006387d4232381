import { findContact } from '../contacts/index.js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { nobodySaid } from './contract-cancel.js'
import { blockedReasons } from './definition/index.js'
import { type RunsFilter, statusesIn, stepIdsOf } from './runs/index.js'
import { endStatuses, liveStatuses } from './runs/status.js'

export interface RunsAskedFor {
  status?: string | undefined
  step?: string | undefined
  version?: number | undefined
  reason?: string | undefined
  waiting?: string | undefined
}

/**
 * What a list of runs is asked for. Throws a 422 for fields that do not go together, and for a step that does not
 * exist.
 */
export async function runsFilterOf(
  read: Read,
  automationId: string,
  { status, step, version, reason, waiting }: RunsAskedFor,
): Promise<RunsFilter> {
  const stepIds =
    step === undefined && version === undefined
      ? undefined
      : await stepsAsked(read, automationId, { step, version })
  if (waiting !== undefined) {
    if (status !== undefined || reason !== undefined) {
      throw refused('`waiting` finds runs that are under way: leave out `status` and `reason`')
    }
    if (waiting !== 'held' && !blockedReasons.some((one) => one === waiting)) {
      throw refused(`\`waiting\` is one of held, ${blockedReasons.join(', ')}`)
    }
    return { stepIds, wait: waiting }
  }
  if (reason === undefined) {
    // A run at a step is a live one, unless the client asks for runs that ended there.
    const usual = step === undefined ? undefined : liveStatuses
    return { stepIds, statuses: status === undefined ? usual : statusesIn(status) }
  }
  const end = endStatuses.find((one) => one === status)
  if (end === undefined) {
    throw refused(`\`reason\` goes with one status by which runs end: ${endStatuses.join(', ')}`)
  }
  return { stepIds, statuses: [end], reason }
}

/** The filter for one person alone, by their address; it fits no run where the account knows no such contact. */
export async function ofPerson(
  read: Read,
  accountId: string,
  filter: RunsFilter,
  email: string | undefined,
): Promise<RunsFilter> {
  if (email === undefined) return filter
  const contact = await findContact(read, accountId, email)
  return { ...filter, contactId: contact?.id ?? null }
}

/** The live runs that a request is to change. */
export async function liveAsked(
  read: Read,
  automationId: string,
  asked: Pick<RunsAskedFor, 'step' | 'version' | 'waiting'>,
): Promise<RunsFilter> {
  return { ...(await runsFilterOf(read, automationId, asked)), statuses: liveStatuses }
}

/**
 * The same for a request that may mean all runs, which it has to say. Throws a 422 where it names no runs, or both all
 * and some.
 */
export async function meantRunsIn(
  read: Read,
  automationId: string,
  {
    everybody,
    dryRun,
    ...asked
  }: Parameters<typeof liveAsked>[2] & {
    everybody?: boolean | undefined
    dryRun?: boolean | undefined
  },
): Promise<RunsFilter> {
  const isSome = Object.values(asked).some((one) => one !== undefined)
  const isSaid = everybody === true ? !isSome : isSome || dryRun === true
  if (!isSaid) throw refused(nobodySaid)
  return await liveAsked(read, automationId, asked)
}

async function stepsAsked(
  read: Read,
  automationId: string,
  { step, version }: Pick<RunsAskedFor, 'step' | 'version'>,
): Promise<number[]> {
  const ids = await stepIdsOf(read, automationId, { key: step, version })
  const where = version === undefined ? 'The automation' : `Version ${version}`
  if (ids.length > 0) return ids
  throw refused(
    step === undefined
      ? `${where} was never enabled`
      : `${where} has no step "${step}" that was ever enabled`,
  )
}

const refused = (message: string) => new ApiError('validation_error', message, { status: 422 })
