import { addressKey } from '../mime/index.js'
import type { Read } from '../store/index.js'
import {
  erasedAmong,
  type SuppressionReason,
  strength,
  suppressionsAmong,
} from '../suppression/index.js'
import { reasonOf } from './filters.js'

/** Why somebody gets no marketing mail; people who were erased and added again are `erased`, not suppressed by hand. */
export const noMailReasons = [
  'unsubscribed',
  'bounced',
  'complained',
  'suppressed',
  'erased',
] as const
export type NoMailReason = (typeof noMailReasons)[number]

/** How many people get no mail, each counted for their strongest reason. */
export type NoMailCounts = Record<NoMailReason, number>

/** The reasons in words, after 'Gets none: '. */
export const noMailWords: Readonly<Record<NoMailReason, string>> = {
  unsubscribed: 'unsubscribed',
  bounced: 'bounced',
  complained: 'complained',
  suppressed: 'suppressed by hand',
  erased: 'erased on request',
}

/** What is known of an address: its strongest suppression, and whether an erasure made it. */
export interface MailStanding {
  suppressed: SuppressionReason | null
  erased: boolean
}

/** Why somebody gets no mail, in one word; undefined: they get it. */
export function noMailReason({ suppressed, erased }: MailStanding): NoMailReason | undefined {
  if (suppressed === null) return undefined
  if (suppressed === 'manual' && erased) return 'erased'
  return noMailReasons.find((one) => reasonOf[one] === suppressed)
}

/** Where the addresses of an account stand, and all that is recorded of each. */
export async function standingsOf(read: Read, accountId: string, addresses: readonly string[]) {
  const reasons = await suppressionsAmong(read, accountId, addresses)
  const reasonsFor = (address: string): ReadonlySet<SuppressionReason> =>
    reasons.get(addressKey(address)) ?? new Set()
  // Each look needs a hash, so it is done only for addresses that may have been erased.
  const byHand = addresses.filter((address) => reasonsFor(address).has('manual'))
  const erased = await erasedAmong(read, accountId, byHand)
  const standingOf = (address: string): MailStanding => ({
    suppressed: strength.find((reason) => reasonsFor(address).has(reason)) ?? null,
    erased: erased.has(address),
  })
  return { reasonsFor, standingOf }
}

export const noneWithoutMail = (): NoMailCounts => ({
  unsubscribed: 0,
  bounced: 0,
  complained: 0,
  suppressed: 0,
  erased: 0,
})

/** How many of these get no mail, and why; every address counts. */
export async function countNoMail(
  read: Read,
  accountId: string,
  addresses: readonly string[],
): Promise<NoMailCounts> {
  const counts = noneWithoutMail()
  if (addresses.length === 0) return counts
  const { standingOf } = await standingsOf(read, accountId, addresses)
  for (const address of addresses) {
    const reason = noMailReason(standingOf(address))
    if (reason !== undefined) counts[reason]++
  }
  return counts
}

export function addNoMail(to: NoMailCounts, more: NoMailCounts): NoMailCounts {
  const sums = noneWithoutMail()
  for (const reason of noMailReasons) sums[reason] = to[reason] + more[reason]
  return sums
}
