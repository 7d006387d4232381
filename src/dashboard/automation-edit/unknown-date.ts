import {
  type AutomationDefinition,
  dateFieldOf,
  dateRuleOf,
  type StepFault,
  surveyDates,
} from '../../automations/index.js'
import { listContactFields } from '../../contact-fields/index.js'
import type { Read } from '../../store/index.js'
import { inQuotes } from '../shell/names.js'

// As many as fit into a line.
const mostNamed = 5

/**
 * The doubt about the field by whose day an automation begins: nobody has described it, and no contact has a day in it,
 * so it is probably misspelt. Undefined where all is well, or it begins with something else.
 */
export async function unknownDate(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<StepFault | undefined> {
  const rule = dateRuleOf(definition)
  const trigger = definition.steps.find(({ type }) => type === 'trigger')
  if (rule === undefined || trigger === undefined) return undefined
  const name = dateFieldOf(rule.date)
  const fields = await listContactFields(read, accountId)
  if (name === '' || fields.some((one) => one.name === name)) return undefined
  const { dated } = await surveyDates(read, accountId, rule)
  if (dated > 0) return undefined
  const dates = fields.filter(({ type }) => type === 'date').slice(0, mostNamed)
  const others = dates.map((one) => inQuotes(one.name)).join(', ')
  const which = others === '' ? '' : ` Your fields with a date: ${others}.`
  return {
    key: trigger.key,
    error: `No contact has a day in ${inQuotes(name)}, and there is no field of this name.${which}`,
  }
}
