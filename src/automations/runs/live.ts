import type { Selectable } from 'kysely'
import type { Json } from '../../json/index.js'
import { type AutomationLiveRow, idsOf, prepared, type Read } from '../../store/index.js'
import type { HistoryEntry, RunState, StoredEvent } from '../definition/index.js'

/** A run that is under way, as it is kept. */
export type LiveRow = Selectable<AutomationLiveRow>

/** A line of history as it is kept: step, time since the start, result, the mail's or event's id. */
type KeptEntry = [stepId: number, sinceStartMs: number, result: string, id?: string | number]

/** History as it is kept (JSON). */
export function historyJson(entries: readonly HistoryEntry[], startedAt: number): string {
  const kept = entries.map(({ stepId, at, result, emailId, eventId }): KeptEntry => {
    const id = emailId ?? eventId
    return id === undefined
      ? [stepId, at - startedAt, result]
      : [stepId, at - startedAt, result, id]
  })
  return JSON.stringify(kept)
}

/**
 * Kept as short arrays with times relative to the start, since a million live runs carry a history
 * each.
 */
export function readHistory(json: string, startedAt: number): HistoryEntry[] {
  return (JSON.parse(json) as KeptEntry[]).map(([stepId, since, result, id]) => ({
    stepId,
    at: startedAt + since,
    result,
    ...(typeof id === 'string' ? { emailId: id } : {}),
    ...(typeof id === 'number' ? { eventId: id } : {}),
  }))
}

/** `waits` as it is kept: each wait's key with the event that it has received. */
type KeptWait = [key: string, eventId: number]

/** What waits have received, as it is kept: only the events' ids. */
export const waitsJson = (waits: RunState['waits']): string | null =>
  waits.length === 0 ? null : JSON.stringify(waits.map(({ key, event }) => [key, event.id]))

/** The reverse of `waitsJson`. */
const readWaits = (json: string | null): KeptWait[] => (json === null ? [] : JSON.parse(json))

/** The events that a run remembers: what began it, what ended its wait, what its waits received. */
export const eventsOf = ({ trigger_event, woken_by, waits }: LiveRow): number[] => [
  trigger_event,
  ...(woken_by === null ? [] : [woken_by]),
  ...readWaits(waits).map(([, id]) => id),
]

/** Throws when what is stored of a run cannot be read. */
export function checkLive(row: LiveRow): void {
  eventsOf(row)
  readHistory(row.history, row.started_at)
}

/** A run as `walk` knows it; `events` has those of `eventsOf`. */
export function stateOf(row: LiveRow, events: ReadonlyMap<number, StoredEvent>): RunState {
  return {
    contactId: row.contact_id,
    startedAt: row.started_at,
    stepId: row.step_id,
    enteredAt: row.entered_at,
    dueAt: row.due_at,
    wokenBy: row.woken_by === null ? null : (events.get(row.woken_by) ?? null),
    heard: row.heard === null ? {} : JSON.parse(row.heard),
    waits: readWaits(row.waits).flatMap(([key, id]) => {
      const event = events.get(id)
      return event === undefined ? [] : [{ key, event }]
    }),
    history: readHistory(row.history, row.started_at),
    steps: row.steps,
    mails: row.mails,
  }
}

/** Events by their ids; those that are gone are left out. */
export async function eventsById(
  read: Read,
  ids: readonly number[],
): Promise<Map<number, StoredEvent>> {
  if (ids.length === 0) return new Map()
  const rows = await eventsAmong(read, { ids: JSON.stringify([...new Set(ids)]) })
  return new Map(rows.map((row) => [row.id, toEvent(row)]))
}

/** An event as it is stored. */
export interface EventColumns {
  id: number
  name: string
  payload: string | null
  at: number
}

/** An event as rules read it. */
export const toEvent = ({ id, name, payload, at }: EventColumns): StoredEvent => ({
  id,
  name,
  payload: payloadOf(payload),
  at,
})

/**
 * A broken payload counts as none. Runs of other contacts are read with this one, and each plan would take an event
 * that was left out for one that came later.
 */
function payloadOf(text: string | null): Json {
  try {
    return text === null ? null : (JSON.parse(text) as Json)
  } catch {
    return null
  }
}

/** Events by their numbers, in one query for a batch of runs. */
const eventsAmong = prepared<{ ids: string }, EventColumns>((db, { ids }) =>
  db
    .selectFrom('automation_events')
    .select(['id', 'name', 'payload', 'at'])
    .where('id', 'in', idsOf(ids, 'integer')),
)
