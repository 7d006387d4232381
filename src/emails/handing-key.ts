import type { Principal } from '../accounts/index.js'
import type { HandingKey } from '../billing/index.js'
import { keepNewest } from '../bounded/index.js'
import { type EmailDeps, oncePerDeps } from './deps.js'

// Accounts that may be near a surge; for others a surge shows the address as unknown.
const mostWatched = 1_000

const watched = oncePerDeps(() => new Map<string, true>())

/** The account is near a surge: from now on the addresses that hand in its mail are noted. */
export function watchAccount(deps: EmailDeps, accountId: string): void {
  keepNewest(watched(deps), accountId, true, mostWatched)
}

/**
 * The key of a request. The client's address is read at once if a surge may soon show it, as a closed connection has
 * none. Reading it at every request would cost too much.
 */
export function handingKey(deps: EmailDeps, principal: Principal): HandingKey {
  if (!watched(deps).has(principal.accountId)) return principal
  const address = principal.address()
  return { ...principal, address: () => address }
}
