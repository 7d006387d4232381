import type { SharedCounts } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import { makeQuota, networkOf, sourceOf } from '../smtpd/index.js'

/** Counts log-ins that failed, by address and by network (RFC 4954 §9: guessing must cost). */
export interface FailedLogins {
  /** Whether the address or its network has failed too often. */
  isLockedOut(address: string): boolean
  add(address: string): void
}

// The refusal names this time too: 'try again in 15 minutes'.
const windowMs = 15 * 60_000
const perAddress = 10
// Renting more addresses buys few more guesses; one broken machine does not lock out its neighbours.
const perNetwork = 30

/**
 * Counts for 15 minutes from a source's first failure, including those at other nodes: 10 for an address, 30 for its
 * network.
 */
export function makeFailedLogins(clock: Clock, counts?: SharedCounts): FailedLogins {
  const quota = (kind: string, most: number) =>
    makeQuota(clock, { most, windowMs, together: counts?.of(kind) })
  const addresses = quota('submission failures', perAddress)
  const networks = quota('submission network failures', perNetwork)
  return {
    isLockedOut: (address) =>
      !addresses.has(sourceOf(address), 1) || !networks.has(networkOf(address), 1),
    add(address) {
      addresses.take(sourceOf(address))
      networks.take(networkOf(address))
    },
  }
}
