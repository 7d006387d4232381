import type { Clock } from '../clock/index.js'
import { internalReason, messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { isPassing, type Store } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { pauseBroadcast } from './stop.js'

/**
 * Pauses a campaign that met a fault of its own, with that as its reason: the operator resumes or cancels
 * it, and the others go on. A fault that passes is thrown again. Resolves with whether it is paused.
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
    await pauseBroadcast(deps, broadcast, { reason: internalReason(what, cause) })
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
