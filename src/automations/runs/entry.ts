import { hourMs, isRecent } from '../../clock/index.js'
import {
  type Compiled,
  type Departure,
  durationMs,
  holds,
  limits,
  type RunContact,
  type StoredEvent,
  staysOn,
} from '../definition/index.js'
import type { EntryRefusal } from './status.js'

/** What is known of a contact and an automation when its event comes. */
export interface Entering {
  contact: RunContact
  event: StoredEvent
  /** When it happened, as the client says (O21); `event.at` by default. */
  occurredAt?: number | undefined
  departed: Departure | undefined
  /** A run of this contact is under way. */
  running: boolean
  /** What is known of earlier runs; undefined if there were none. */
  before: { lastStartedAt: number; startsInLastHour: number } | undefined
  now: number
}

/** The starts of a contact that are less than an hour ago, of which there may be 20. */
export const inLastHour = (starts: readonly number[], now: number): number[] =>
  starts.filter((at) => isRecent(at, now, hourMs))

/** Why this event starts no run of the version; undefined if it does. */
export function refusalOf(version: Compiled, entering: Entering): EntryRefusal | undefined {
  const { contact, event, departed, before, now } = entering
  const { step } = version.trigger
  if (step.type !== 'trigger') throw new Error('a compiled trigger is none')
  if (entering.running) return 'already_running'
  if (now - (entering.occurredAt ?? event.at) > limits.eventAgeMs) return 'too_old'
  if (departed !== undefined && !staysOn(version, departed)) return 'suppressed'
  // Nothing has been waited for or mailed yet, so that these fields are missing.
  const facts = { contact, trigger: event, event, waits: [], mail: () => undefined, now }
  if (!holds(step.config.filter, facts)) return 'filtered'
  if (before === undefined) return undefined
  const { reentry = 'after_end' } = step.config
  if (reentry === 'once') return 'already_entered'
  if (reentry !== 'after_end') {
    const afterMs = durationMs(reentry.after) ?? 0
    if (isRecent(before.lastStartedAt, now, afterMs)) return 'too_soon'
  }
  return before.startsInLastHour >= limits.startsPerHour ? 'limit' : undefined
}
