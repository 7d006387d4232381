import { behaviourOf } from '../simulator/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import type { Departure } from './run.js'

const departures: Record<SuppressionReason, Departure> = {
  complaint: 'complained',
  bounce: 'bounced',
  manual: 'suppressed',
  unsubscribe: 'unsubscribed',
}

/**
 * What the suppression of an address means for its contact's runs; the gravest reason counts. The simulator's
 * suppressed address is one, as when mail is made: a run would come to its send step for ever.
 */
export function departureOf(
  reasons: ReadonlyMap<string, ReadonlySet<SuppressionReason>>,
  email: string,
): Departure | undefined {
  const theirs = reasons.get(email.toLowerCase())
  const gravest = (Object.keys(departures) as SuppressionReason[]).find((one) => theirs?.has(one))
  if (gravest !== undefined) return departures[gravest]
  return behaviourOf(email)?.kind === 'suppressed' ? 'suppressed' : undefined
}
