import type { Read } from '../../store/index.js'
import { eventTitle } from '../event-words.js'
import { type Moment, moment } from '../format.js'
import { namedOptions } from '../shell/named-options.js'

/** An automation that somebody is in. */
export interface LiveRunView {
  name: string
  started: Moment
  /** What it waits for. */
  waits: string
  due: Moment | undefined
}

/** Something that was heard of somebody. */
export interface ContactEventView {
  name: string
  at: Moment
}

const eventsShown = 20
const runsShown = 50

/** The automations that a contact is in now. */
export async function liveRunsOf(
  read: Read,
  contactId: string,
  now: number,
): Promise<LiveRunView[]> {
  const rows = await read
    .selectFrom('automation_live as live')
    .innerJoin('automations', 'automations.id', 'live.automation_id')
    .select(['automations.name', 'live.due_at', 'wait_event', 'held_at', 'live.started_at'])
    .where('contact_id', '=', contactId)
    .orderBy('live.automation_id')
    .limit(runsShown)
    .execute()
  return rows.map(({ name, due_at, wait_event, held_at, started_at }) => ({
    name,
    started: moment(started_at, now),
    waits: waitOf({ due_at, wait_event, held_at }, now),
    due: held_at === null && due_at > now ? moment(due_at, now) : undefined,
  }))
}

function waitOf(
  {
    due_at,
    wait_event,
    held_at,
  }: { due_at: number; wait_event: string | null; held_at: number | null },
  now: number,
): string {
  if (held_at !== null) return 'Held by the operator'
  if (wait_event !== null) return `Waits for the event ${wait_event}`
  return due_at > now ? 'Waits for its time' : 'Goes on now'
}

/** The events that were heard of a contact, newest first. */
export async function eventsOf(
  read: Read,
  contactId: string,
  now: number,
): Promise<ContactEventView[]> {
  const rows = await read
    .selectFrom('automation_events')
    .select(['name', 'at'])
    .where('contact_id', '=', contactId)
    .orderBy('id', 'desc')
    .limit(eventsShown)
    .execute()
  return rows.map(({ name, at }) => ({ name: eventTitle(name), at: moment(at, now) }))
}

/** The enabled automations of an account, by name, as choices: an account has at most 200 of them. */
export async function startable(
  read: Read,
  accountId: string,
): Promise<{ value: string; label: string }[]> {
  const rows = await read
    .selectFrom('automation_triggers as triggers')
    .innerJoin('automations', 'automations.id', 'triggers.automation_id')
    .select(['automations.id', 'automations.name'])
    .where('triggers.account_id', '=', accountId)
    .execute()
  return namedOptions(rows).sort((a, b) => a.label.localeCompare(b.label))
}
