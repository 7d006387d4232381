import { type CalendarDay, calendarDayOf, type DayReached, nextOnDay } from '../../clock/index.js'
import type { Json, JsonObject } from '../../json/index.js'
import type { Tx } from '../../store/index.js'
import type { AutomationDefinition, DateOf } from './definition.js'
import type { RunContact } from './run.js'
import { zoneOf } from './zone.js'

/** The event of a trigger that names a date: nobody can send it, and no step waits for it. */
export const dateEvent = '$contact.date'
/** The most days before or after the date. */
export const mostDays = 365
// Unless a trigger says otherwise: a mail in the morning.
const usualTime = '09:00'

/** What is kept of such a trigger. */
export interface DateRule {
  date: DateOf
  /** For contacts who name none. */
  timeZone?: string | undefined
}

/** The field by its name in the metadata. */
export const dateFieldOf = ({ field }: Pick<DateOf, 'field'>): string =>
  field.replace(/^(contact\.)?metadata\./, '')

export const isDateField = (field: string): boolean =>
  /^((contact\.)?metadata\.)?[A-Za-z0-9_-]{1,64}$/.test(field)

/** What stands in the field of a contact: a day, nothing, or what is no day. */
export type DateFound =
  | { kind: 'day'; day: CalendarDay }
  | { kind: 'none' }
  | { kind: 'unreadable'; value: Json }

/** The day of a contact by which a rule goes. */
export function dateIn({ field }: Pick<DateOf, 'field'>, metadata: JsonObject): DateFound {
  const name = dateFieldOf({ field })
  const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined
  if (value === undefined || value === null || value === '') return { kind: 'none' }
  const day = typeof value === 'string' ? calendarDayOf(value) : undefined
  return day === undefined ? { kind: 'unreadable', value } : { kind: 'day', day }
}

/** When the rule next has a contact begin, after `after` (ms); undefined: it does not. */
export function dateFor(
  { date, timeZone }: DateRule,
  contact: RunContact,
  { after, done }: { after: number; done?: string | null },
): DayReached | undefined {
  const found = dateIn(date, contact.metadata)
  if (found.kind !== 'day') return undefined
  const { days = 0, time = usualTime, repeat = 'yearly' } = date
  const zone = zoneOf(date.zone, contact, timeZone)
  const reached = { zone, after, ...(done !== undefined && { done }) }
  return nextOnDay(found.day, { time, days, isYearly: repeat === 'yearly' }, reached)
}

/** What the event that begins a run on such a day says: the field, its value, and the day of this year. */
export const dateSays = ({ date }: DateRule, contact: RunContact, on: string): JsonObject => {
  const field = dateFieldOf(date)
  return { field, date: contact.metadata[field] ?? null, on }
}

/** The rule of a definition that begins on a date; undefined for any other. */
export function dateRuleOf({ steps, settings = {} }: AutomationDefinition): DateRule | undefined {
  for (const { type, config } of steps) {
    if (type !== 'trigger' || config.date === undefined) continue
    const { timeZone } = settings
    return { date: config.date, ...(timeZone !== undefined && { timeZone }) }
  }
  return undefined
}

/** Has contacts begin by their date from now on. Where they did so before, no year begins twice. */
export async function followDates(
  tx: Tx,
  { account_id, id }: { account_id: string; id: string },
  definition: AutomationDefinition,
): Promise<void> {
  const rule = dateRuleOf(definition)
  if (rule === undefined) return
  const row = { rule: JSON.stringify(rule), state: 'filling' as const, cursor: '' }
  await tx
    .insertInto('automation_dates')
    .values({ automation_id: id, account_id, ...row, revision: 0 })
    .onConflict((conflict) =>
      conflict
        .column('automation_id')
        .doUpdateSet(({ eb }) => ({ ...row, revision: eb('automation_dates.revision', '+', 1) })),
    )
    .execute()
}

/** Nobody begins by their date any more; the rows of `automation_date_due` go in slices (`upkeep/run-dates.ts`). */
export async function leaveDates(tx: Tx, id: string, state: 'stopped' | 'ended'): Promise<void> {
  await tx
    .updateTable('automation_dates')
    .set(({ eb }) => ({ state, cursor: '', revision: eb('revision', '+', 1) }))
    .where('automation_id', '=', id)
    .execute()
}
