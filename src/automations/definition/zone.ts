import { isZone } from '../../clock/index.js'
import type { RunContact } from './run.js'

/**
 * The zone of a time of day: the one it names; with "contact", or none, the contact's own
 * (`metadata.timeZone`), else the automation's, else UTC.
 */
export function zoneOf(
  named: string | undefined,
  contact: RunContact | undefined,
  automationZone: string | undefined,
): string {
  if (named !== undefined && named !== 'contact') return named
  const own = contact?.metadata.timeZone
  return typeof own === 'string' && isZone(own) ? own : (automationZone ?? 'UTC')
}
