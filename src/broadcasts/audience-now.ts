import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import type { AudienceCount } from './count-audience.js'
import { sizeOfOnly } from './count-fit.js'
import { whomOf } from './whom.js'

/** About how many a campaign would reach that has not begun. */
export interface AudienceNow {
  people: number
  /** What has been counted when it was saved is so still, as far as the number of its list or segment tells. */
  isCounted: boolean
}

/**
 * By the number that its list or segment has of itself, so that nobody is counted for a list of campaigns: what was counted when
 * it was saved, and who has come or gone since. Of several lists and segments it is what was counted then.
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
