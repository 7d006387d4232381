import { counted } from '../amounts/index.js'
import { lastDeed } from '../audit/index.js'
import type { Read } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { variantTestOf } from './variant.js'

/** Who has chosen the version for the rest by hand; null: nobody did, or the log does not have it any more. */
export async function choserOf(
  read: Read,
  { id, account_id: accountId, decided_by }: Pick<Broadcast, 'id' | 'account_id' | 'decided_by'>,
): Promise<string | null> {
  if (decided_by !== 'account') return null
  const deed = await lastDeed(read, accountId, { action: 'broadcast.choose', target: id })
  return deed?.who ?? null
}

/** Who or what has chosen the version for the rest, as the end of a sentence about it: 'chosen by …'. */
export function chosenWords(
  broadcast: Pick<Broadcast, 'decided_by' | 'variant_test'>,
  who: string | null,
): string {
  if (broadcast.decided_by === 'account') return `chosen by ${who ?? 'somebody of the account'}`
  const hours = variantTestOf(broadcast)?.decideAfter
  const after = typeof hours === 'number' ? ` after ${hoursWords(hours)}` : ''
  return broadcast.decided_by === 'figures'
    ? `chosen by itself${after}, as more people did it than with any other version`
    : `chosen by itself${after}: no version was better for sure, so the rest got the first one`
}

/** `7 days`, `36 hours`. */
export const hoursWords = (hours: number): string =>
  hours % 24 === 0 ? counted(hours / 24, 'day') : counted(hours, 'hour')
