import type { Contact } from '../../contacts/index.js'
import type { Json, JsonObject } from '../../json/index.js'
import { behaviourOf } from '../../simulator/index.js'
import type { SuppressionReason } from '../../suppression/index.js'
import { limits } from './definition.js'

/*
 * What `walk` knows: a run as it is kept, and what the store has of its contact. Times in ms.
 */

/** An event of `automation_events`; ids rise in the order in which events were taken in. */
export interface StoredEvent {
  id: number
  name: string
  payload: Json
  at: number
}

/** The contact of a run, as its steps see it. */
export interface RunContact {
  id: string
  email: string
  firstName: string | null
  lastName: string | null
  phone: string | null
  metadata: JsonObject
  createdAt: number
  /** What rules ask about segments and campaigns, answered for this contact by the field; undefined: no rule asks. */
  audience?: Readonly<Record<string, Json>>
}

/** A contact as automations see it. */
export function asRunContact(contact: Contact): RunContact {
  const { id, email, firstName, lastName, phone, createdAt } = contact
  const metadata = contact.metadata as JsonObject
  return { id, email, firstName, lastName, phone, metadata, createdAt }
}

/** What became of the latest mail of a step; people's opens and clicks, never machines'. */
export interface Engagement {
  opened: boolean
  clicked: boolean
  delivered: boolean
  bounced: boolean
}

/** Why a run cannot go on now: `suspended` stops every step, the other reasons stop mails alone. */
export const blockedReasons = [
  ...(['suspended', 'quota', 'paused', 'domain', 'plan', 'queue_full', 'window', 'cap'] as const),
] as const
export type BlockedReason = (typeof blockedReasons)[number]

/** Why a contact gets no more of what they would have got. */
export type Departure = 'unsubscribed' | 'bounced' | 'complained' | 'suppressed' | 'deleted'

/** One line of a run's history; `stepId` 0 is a mark that says how many entries were cut out. */
export interface HistoryEntry {
  stepId: number
  at: number
  result: string
  /** Where the result is `sent`: the mail's id, filled in by whoever makes the mail. */
  emailId?: string
  /** Where the result is `received`: the event's id. */
  eventId?: number
}

/** Where a run is and what it remembers, as `walk` takes it and gives it back. */
export interface RunState {
  contactId: string
  startedAt: number
  /** Where the run is: the step that comes next, or the one in which it waits. */
  stepId: number
  /**
   * When the run came to the delay or wait in which it still is; null while the step is not begun: at the start, after
   * `blocked` and `continue`, and when a goal has moved the run.
   */
  enteredAt: number | null
  /** When the delay or the timeout is over, as `park` said. */
  dueAt: number
  /** The event by which ingest ended the wait (`wakes` said so); null if there was none. */
  wokenBy: StoredEvent | null
  /**
   * By event name, the latest event that a wait took: each event satisfies at most one wait, and before the first one
   * events count from the trigger on. `@<step key>` says where a wait with `since: "step"` began to listen, `@goal`
   * which event reached the goal (neither is the name of an event).
   */
  heard: Readonly<Record<string, number>>
  /** What waits have received, one for each wait's key, the latest last. */
  waits: readonly { key: string; event: StoredEvent }[]
  history: readonly HistoryEntry[]
  /** Steps taken and mails made so far. */
  steps: number
  mails: number
}

/** Why a mail cannot be made now, or never. */
export type Obstacle =
  | { kind: 'blocked'; reason: BlockedReason; until: number }
  | { kind: 'failed'; reason: string }
  /** It is passed over, as an operator said. */
  | { kind: 'skipped'; reason: string }

/** A run as it is when its event starts it: due at once, at its trigger. */
export function startRun(contactId: string, triggerStepId: number, now: number): RunState {
  return {
    contactId,
    startedAt: now,
    stepId: triggerStepId,
    enteredAt: null,
    dueAt: now,
    wokenBy: null,
    heard: {},
    waits: [],
    history: [],
    steps: 0,
    mails: 0,
  }
}

/** How a run ends when its contact may no longer be mailed, by the strongest reason. */
const departures: Record<SuppressionReason, Departure> = {
  complaint: 'complained',
  bounce: 'bounced',
  manual: 'suppressed',
  unsubscribe: 'unsubscribed',
}

/**
 * What the suppression of an address means for its contact's runs; the gravest reason counts. The simulator's
 * suppressed address counts too, as when mail is made: otherwise a run would come to its send step for ever.
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

/**
 * A run's history with more entries, at most 200 in all: the first half stays as it is, and the oldest entries after it
 * are cut. A mark (`stepId` 0, `cut:<n>`) stands in their place.
 */
export function appended(
  history: readonly HistoryEntry[],
  entries: readonly HistoryEntry[],
): HistoryEntry[] {
  const all = [...history, ...entries]
  if (all.length <= limits.historyEntries) return all
  const half = limits.historyEntries / 2
  const early = all.slice(0, half)
  const marked = all[half]?.stepId === 0 ? all[half] : undefined
  const rest = all.slice(half + (marked === undefined ? 0 : 1))
  const late = rest.slice(-(half - 1))
  const before = Number(marked?.result.slice('cut:'.length) ?? 0)
  const cut = before + rest.length - late.length
  const at = late[0]?.at ?? 0
  return [...early, { stepId: 0, at, result: `cut:${cut}` }, ...late]
}
