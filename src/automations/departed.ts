import type { SuppressionReason } from '../suppression/index.js'
import type { Departure } from './run.js'

const departures: Record<SuppressionReason, Departure> = {
  complaint: 'complained',
  bounce: 'bounced',
  manual: 'suppressed',
  unsubscribe: 'unsubscribed',
}

/** What the suppression of an address means for its contact's runs; the gravest reason counts. */
export function departureOf(
  reasons: ReadonlySet<SuppressionReason> | undefined,
): Departure | undefined {
  if (reasons === undefined) return undefined
  const gravest = (Object.keys(departures) as SuppressionReason[]).find((one) => reasons.has(one))
  return gravest && departures[gravest]
}
