import type { StepDefinition } from '../../automations/index.js'
import { eventWords } from '../event-words.js'

/*
 * How steps with the same name are told apart. Conditions name mails and waits too, so those are numbered wherever they
 * stand.
 */

/** Titles by their keys, with ` (1)`, ` (2)` after titles that occur more than once, in their order. */
export function numbered(
  titles: readonly (readonly [key: string, title: string])[],
): Map<string, string> {
  const counts = new Map<string, number>()
  for (const [, title] of titles) counts.set(title, 1 + (counts.get(title) ?? 0))
  const seen = new Map<string, number>()
  return new Map(
    titles.map(([key, title]) => {
      const at = 1 + (seen.get(title) ?? 0)
      seen.set(title, at)
      return [key, counts.get(title) === 1 ? title : `${title} (${at})`]
    }),
  )
}

/** A step's short name: its own name, its template, or the event that it waits for. */
function plainName(step: StepDefinition): string | undefined {
  if (step.name !== undefined) return step.name
  if (step.type === 'send_email') return step.config.template || 'a mail'
  return step.type === 'wait_for_event'
    ? `Wait until ${eventWords(step.config.eventName)}`
    : undefined
}

type Steps = readonly StepDefinition[]

const kept = new WeakMap<Steps, Map<string, string>>()

/**
 * The short names of all steps that have one, told apart. They are kept, as a page asks for each step and condition.
 */
function namesIn(steps: Steps): Map<string, string> {
  const known = kept.get(steps)
  if (known !== undefined) return known
  const plain = steps.flatMap((step) => {
    const name = plainName(step)
    return name === undefined ? [] : [[step.key, name] as const]
  })
  const names = numbered(plain)
  kept.set(steps, names)
  return names
}

/** A mail or a wait, as a condition names it. */
export const shortName = (key: string, steps: Steps): string => namesIn(steps).get(key) ?? key

/** The ` (2)` after the title of the second step with one name; empty for a name that occurs once. */
export function markOf(step: StepDefinition, steps: Steps): string {
  const plain = plainName(step)
  return plain === undefined ? '' : shortName(step.key, steps).slice(plain.length)
}
