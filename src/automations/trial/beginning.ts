import { calendarDayOf } from '../../clock/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.js'
import {
  type AutomationDefinition,
  dateFieldOf,
  dateFor,
  dateIn,
  dateRuleOf,
  dateSays,
  type RunContact,
} from '../definition/index.js'

/** What begins a trial for somebody, and when. */
export interface TrialBeginning {
  at: number
  payload: JsonObject
}

/**
 * When an automation begins for a contact, from `at` on: at once, or on the day in their field where it begins on a
 * date. Where that day does not come, it says why. A `date` in the payload stands for the value of the field.
 */
export function beginningFor(
  definition: AutomationDefinition,
  contact: RunContact,
  { at, payload }: TrialBeginning,
): TrialBeginning | 'no_date' | 'unreadable_date' {
  const rule = dateRuleOf(definition)
  if (rule === undefined) return { at, payload }
  const dated = { ...contact, metadata: { ...contact.metadata } }
  if (isDay(payload.date)) dated.metadata[dateFieldOf(rule.date)] = payload.date
  const reached = dateFor(rule, dated, { after: at - 1 })
  if (reached === undefined) {
    const found = dateIn(rule.date, dated.metadata)
    return found.kind === 'unreadable' ? 'unreadable_date' : 'no_date'
  }
  return { at: reached.at, payload: { ...dateSays(rule, dated, reached.day), ...payload } }
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && calendarDayOf(value) !== undefined

/** The payload that a request gives for the beginning event; empty where it is no object. */
export const payloadOf = (given: Json): JsonObject => (isJsonObject(given) ? given : {})
