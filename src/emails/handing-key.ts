import type { Principal } from '../accounts/index.js'
import type { HandingKey } from '../billing/index.js'
import { keepNewest } from '../bounded/index.js'
import { type EmailDeps, oncePerDeps } from './deps.js'

// Accounts that may be near a surge; of others a surge says that the address is not known.
const mostWatched = 1_000

const watched = oncePerDeps(() => new Map<string, true>())

/** A surge of the account is near: from now on it is told where its mail comes from. */
export function watchAccount(deps: EmailDeps, accountId: string): void {
  keepNewest(watched(deps), accountId, true, mostWatched)
}

/**
 * The key of a request. Its address is asked for at once where it may be told soon, as who has hung up has none any more; of
 * every request that would cost too much.
 */
export function handingKey(deps: EmailDeps, principal: Principal): HandingKey {
  if (!watched(deps).has(principal.accountId)) return principal
  const address = principal.address()
  return { ...principal, address: () => address }
}
