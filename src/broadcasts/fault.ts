import type { Clock } from '../clock/index.js'
import { ApiError, internalReason, messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { isPassing, type Store } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { pauseBroadcast } from './stop.js'
import { goneWords } from './whom-gone.js'

/**
 * Pauses a campaign that met a fault of its own, with that as its reason: the operator resumes or cancels it, and the
 * others go on. A passing fault is thrown again. Resolves with whether it is paused.
 */
export async function pauseAtFault(
  deps: { store: Store; clock: Clock; log: Log },
  broadcast: Broadcast,
  what: string,
  fault: unknown,
): Promise<boolean> {
  if (isPassing(fault)) throw fault
  const { id, account_id: accountId } = broadcast
  const cause = messageOf(fault)
  try {
    await pauseBroadcast(deps, broadcast, { reason: internalReason(what, cause), isFault: true })
  } catch (error) {
    if (isPassing(error)) throw error
    const fields = { broadcastId: id, accountId, cause, pausing: messageOf(error) }
    deps.log.error(fields, 'A campaign that cannot go on could not be paused')
    return false
  }
  const advice = "'posthorn broadcast resume' tries it again, 'posthorn broadcast cancel' ends it"
  deps.log.error(
    { broadcastId: id, accountId, cause },
    `A campaign is paused, as ${what}. ${advice}`,
  )
  return true
}

/**
 * Pauses a campaign with a deleted list, segment or topic: the account cancels it. Resolves with whether it is paused.
 */
export async function pauseWithout(
  deps: { store: Store; clock: Clock; log: Log },
  broadcast: Broadcast,
  { message }: ApiError,
): Promise<boolean> {
  const gone = await goneWords(deps.store.read, broadcast)
  await pauseForAccount(deps, broadcast, gone ?? `${message}: something of it was deleted`)
  return true
}

/** Pauses a campaign for a reason that its account can mend. */
export async function pauseForAccount(
  deps: { store: Store; clock: Clock },
  broadcast: Broadcast,
  reason: string,
): Promise<void> {
  try {
    await pauseBroadcast(deps, broadcast, { reason, byAccount: true })
  } catch (error) {
    // The campaign was paused, ended or cancelled meanwhile.
    if (!(error instanceof ApiError)) throw error
  }
}

/**
 * Pauses a campaign whose list has outgrown the account's plan: the account resumes it once there is room. Resolves
 * with whether it is paused.
 */
export async function pauseAtCap(
  deps: { store: Store; clock: Clock; log: Log },
  broadcast: Broadcast,
  { message }: ApiError,
): Promise<boolean> {
  const { id, account_id: accountId } = broadcast
  const reason = `${message}, and the list has grown since the campaign began: resume it with a larger plan, or next month`
  try {
    await pauseBroadcast(deps, broadcast, { reason, byAccount: true })
  } catch (error) {
    // The campaign was paused, ended or cancelled meanwhile.
    if (!(error instanceof ApiError)) throw error
    return true
  }
  deps.log.warn(
    { broadcastId: id, accountId, reason },
    'A campaign is paused at the cap of its plan',
  )
  return true
}
