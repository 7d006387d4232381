import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import type { AudienceCount } from './count-audience.js'
import { sizeOfOnly } from './count-fit.js'
import { whomOf } from './whom.js'

/** About how many people a campaign would reach that has not begun. */
export interface AudienceNow {
  people: number
  /** The count from the time of saving still holds, as far as the size of its list or segment tells. */
  isCounted: boolean
}

/**
 * Computed from the size of its list or segment, so that a list of campaigns need not count anybody: the count at
 * saving, plus those who have come or gone since. For several lists and segments it is the count at saving.
 */
export async function audienceNow(
  read: Read,
  broadcast: Pick<Broadcast, 'account_id' | 'list_id' | 'whom' | 'counts' | 'audience'>,
): Promise<AudienceNow> {
  const { audience, counts } = broadcast
  const counted = counts === null ? undefined : (JSON.parse(counts) as AudienceCount)
  try {
    const size = await sizeOfOnly(read, broadcast.account_id, whomOf(broadcast))
    if (size === undefined) return { people: audience, isCounted: false }
    const since = size - (counted?.fit ?? audience)
    return { people: Math.max(0, audience + since), isCounted: since === 0 }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    return { people: 0, isCounted: false }
  }
}
