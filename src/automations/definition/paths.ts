import type { Json } from '../../json/index.js'
import { isVariable, type Rule, type Variable } from '../../rules/index.js'
import type { AutomationDefinition, StepDefinition } from './definition.js'
import { coded, type StepFault, type StepFaultCode } from './fault.js'
import { stepsBefore } from './graph.js'

/**
 * Whether each field that a step reads can exist where the step stands: what a wait has received
 * only after that wait, what became of a mail only after its send.
 */
export function checkPaths(definition: AutomationDefinition): StepFault[] {
  const { steps, settings = {} } = definition
  const before = stepsBefore(definition)
  const all = new Set(steps.map(({ key }) => key))
  const types = new Map(steps.map(({ key, type }) => [key, type]))
  const faults: StepFault[] = []
  const check = (key: string | null, paths: string[], possible: ReadonlySet<string>) => {
    for (const path of new Set(paths)) {
      const fault = misplaced(path, possible, types)
      if (fault === undefined) continue
      const error = `field "${path}": ${fault.says}`
      faults.push(coded(key, fault.code, error, fault.of))
    }
  }
  for (const step of steps) check(step.key, pathsOf(step), before.get(step.key) ?? all)
  const rules = [...(settings.exitOn ?? []), ...(settings.goal ? [settings.goal] : [])]
  for (const { filter } of rules) if (filter) check(null, ruleParts(filter), all)
  return faults
}

/** The paths that a step reads. */
function pathsOf(step: StepDefinition): string[] {
  switch (step.type) {
    case 'trigger':
    case 'wait_for_event':
      return step.config.filter === undefined ? [] : ruleParts(step.config.filter)
    case 'condition':
      return ruleParts(step.config)
    case 'send_email':
      return variablesOf(Object.values(step.config.variables ?? {}))
    case 'contact_update': {
      const { firstName = null, lastName = null, metadata = {} } = step.config
      return variablesOf([firstName, lastName, ...Object.values(metadata)])
    }
    case 'webhook':
      return variablesOf(Object.values(step.config.payload ?? {}))
  }
  return []
}

/** All fields that a rule reads, values that are variables included. */
function ruleParts(rule: Rule): string[] {
  if ('all' in rule) return rule.all.flatMap(ruleParts)
  if ('any' in rule) return rule.any.flatMap(ruleParts)
  if ('not' in rule) return ruleParts(rule.not)
  return [rule.field, ...variablesOf([rule.value ?? null])]
}

/** The paths of those values that are variables. */
const variablesOf = (values: (Json | Variable)[]) => values.filter(isVariable).map((v) => v.var)

// Which type of step brings forth the fields under each root.
const sources = { waits: 'wait_for_event', email: 'send_email' } as const

/**
 * A condition on the mail of a step that cannot have been sent yet would always be false: it is
 * said when the automation is written, not when nobody gets the mail.
 */
function misplaced(
  path: string,
  possible: ReadonlySet<string>,
  types: ReadonlyMap<string, StepDefinition['type']>,
): { code: StepFaultCode; says: string; of: string } | undefined {
  const [root, key = ''] = path.split('.')
  if (root !== 'waits' && root !== 'email') return undefined
  if (types.get(key) !== sources[root]) {
    const code = root === 'email' ? 'noMailStep' : 'noWaitStep'
    return { code, says: `"${key}" is not a ${sources[root]} step`, of: key }
  }
  if (possible.has(key)) return undefined
  return { code: 'notBefore', says: `no connections lead from "${key}" to this step`, of: key }
}
