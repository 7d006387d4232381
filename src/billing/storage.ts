import { shownBytes } from '../amounts/index.js'
import { storedBytesOf } from '../contents/index.js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { AccountBilling } from './billing.js'

/**
 * Throws a 403 where the account would store more files, templates and campaigns than its plan allows, with so many
 * bytes more. Asked before the write: of requests that come at once each may be the last.
 */
export async function refuseBeyondStorage(
  read: Read,
  { accountId, plan }: Pick<AccountBilling, 'accountId' | 'plan'>,
  moreBytes: number,
): Promise<void> {
  const most = plan.storedBytes
  if (most === null || moreBytes === 0) return
  const held = await storedBytesOf(read, accountId)
  if (held + moreBytes <= most) return
  throw new ApiError(
    'plan_limit_exceeded',
    `The account stores ${shownBytes(held)} of files, templates and campaigns; the plan ${plan.name} allows ${shownBytes(most)}, and ${shownBytes(moreBytes)} more would be too much. Delete templates, wait until older mails go, or ask the operator for a larger plan`,
  )
}
