import type { AutomationSettings, StepDefinition } from '../../automations/index.js'
import type { Form } from '../../http/index.js'
import type { Rule } from '../../rules/index.js'
import { ruleIn } from './step-form.js'

/* The rules of the events that end a run, and of the goal: one of them is open at a time. */

type Heard = { eventName: string; filter?: Rule }

/** Which of these rules is open in a card, from `settings:exit:0` or `settings:goal`; undefined for none. */
export function heardAt(
  { exitOn = [], goal }: AutomationSettings = {},
  open: string,
): Heard | undefined {
  if (open === 'settings:goal') return goal
  const [, at] = /^settings:exit:(\d+)$/.exec(open) ?? []
  return at === undefined ? undefined : exitOn[Number(at)]
}

/** The event as a step that waits for it: both may have the same rules. */
export const asWait = (heard: Heard): StepDefinition => ({
  key: '',
  type: 'wait_for_event',
  config: heard,
})

/** The settings with the form's version of the open rule. */
export function withRuleIn(
  settings: AutomationSettings,
  open: string,
  fields: Form,
): AutomationSettings {
  const heard = heardAt(settings, open)
  const rule = heard && ruleIn(fields)
  if (heard === undefined || rule === undefined) return settings
  const { filter: _, ...rest } = heard
  const isEmpty = 'all' in rule && rule.all.length === 0
  const made: Heard = isEmpty ? rest : { ...rest, filter: rule }
  if (open === 'settings:goal') return { ...settings, goal: made }
  const exitOn = (settings.exitOn ?? []).map((one) => (one === heard ? made : one))
  return { ...settings, exitOn }
}
