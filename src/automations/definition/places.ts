import { isJsonObject, type JsonObject } from '../../json/index.js'
import type { Comparison, Rule } from '../../rules/index.js'
import type { AutomationDefinition } from './definition.js'

/** The events of the appliance that are about one thing, and the field in which they name it. */
export const placeFields: Readonly<Record<string, string>> = {
  '$list.joined': 'listId',
  '$segment.joined': 'segmentId',
  '$segment.left': 'segmentId',
  '$form.confirmed': 'formId',
}

/** Whose people: those of a list or those who are in a segment now. */
export type Crowd = { listId: string } | { segmentId: string }

/** Whether a part of a filter names the list, segment or form that is meant. */
export const isPlace = (
  rule: Rule | Record<string, unknown>,
): rule is Comparison & { value: string } =>
  'field' in rule &&
  rule.operator === 'eq' &&
  typeof rule.value === 'string' &&
  Object.values(placeFields).some((name) => rule.field === `event.${name}`)

/** How many parts before the one at `path` (`filter`, `all`, 1, …) of a config name its list, segment or form. */
export function placesBefore(config: unknown, path: readonly string[]): number {
  const [filter, all, at] = path
  const rule = filter === 'filter' && isJsonObject(config) ? config.filter : undefined
  if (all !== 'all' || !isJsonObject(rule) || !Array.isArray(rule.all)) return 0
  const before: readonly unknown[] = rule.all.slice(0, Number(at))
  return before.filter((one) => isJsonObject(one) && isPlace(one)).length
}

/** The list, segment or form that a filter names; empty for any. */
export function placeIn(filter: Rule | undefined): string {
  const parts = filter === undefined ? [] : 'all' in filter ? filter.all : [filter]
  return parts.find(isPlace)?.value ?? ''
}

/**
 * What the event that begins an automation says of its list, segment or form, as the appliance would say it; nothing
 * for other events. Where any list, segment or form will do, it names one of `among`.
 */
export function beginningPlace(
  { steps }: AutomationDefinition,
  among: JsonObject = {},
): JsonObject {
  const trigger = steps.find((step) => step.type === 'trigger')
  if (trigger?.type !== 'trigger') return {}
  const field = placeFields[trigger.config.eventName]
  if (field === undefined) return {}
  const place = placeIn(trigger.config.filter) || among[field]
  return place === undefined ? {} : { [field]: place }
}
