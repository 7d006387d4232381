import { listForms, type SignupForm } from '../../forms/index.js'
import { comparisonsOf, type Rule } from '../../rules/index.js'
import type { Read } from '../../store/index.js'
import type { AutomationDefinition } from './definition.js'
import { coded, type StepFault } from './fault.js'

const confirmed = '$form.confirmed'

/** The forms that rules for a confirmation name and the account does not have, each with its place. */
export async function formFaults(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<StepFault[]> {
  const named = await namedForms(read, accountId, definition)
  return named
    .filter(({ form }) => form === undefined)
    .map(({ key, place, id }) => coded(key, 'noForm', `${place}: the account has no form ${id}`))
}

/** The forms of steps by which nobody, or not everybody, confirms anything. */
export async function formWarnings(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<StepFault[]> {
  const named = await namedForms(read, accountId, definition)
  return named.flatMap(({ key, form }) => {
    const warning = form && warningOf(key, form)
    return warning === undefined ? [] : [warning]
  })
}

/** The forms that a definition names, with those that the account has. */
async function namedForms(read: Read, accountId: string, definition: AutomationDefinition) {
  const named = formsNamed(definition)
  if (named.length === 0) return []
  const forms = new Map((await listForms(read, accountId)).map((form) => [form.id, form]))
  return named.map((one) => Object.assign({ form: forms.get(one.id) }, one))
}

function warningOf(
  key: string | null,
  { name, archivedAt, settings }: SignupForm,
): StepFault | undefined {
  if (archivedAt !== null) {
    const error = `The form “${name}” is archived: only who has its mail already can confirm it`
    return { key, error }
  }
  if (settings.doubleOptIn) return undefined
  const error = `The form “${name}” asks strangers for no confirmation: they confirm nothing, and join its lists at once. Begin with "$list.joined" to meet them too`
  return coded(key, 'noConfirmation', error, name)
}

/** Where a definition names forms: in the filters of what hears a confirmation. */
function formsNamed({ steps, settings = {} }: AutomationDefinition) {
  const { exitOn = [], goal } = settings
  return [
    ...steps.flatMap((step) =>
      step.type === 'trigger' || step.type === 'wait_for_event'
        ? namedIn(step.key, 'filter', step.config)
        : [],
    ),
    ...exitOn.flatMap((one, at) => namedIn(null, `settings.exitOn[${at}].filter`, one)),
    ...(goal === undefined ? [] : namedIn(null, 'settings.goal.filter', goal)),
  ]
}

function namedIn(
  key: string | null,
  place: string,
  { eventName, filter }: { eventName: string; filter?: Rule },
): { key: string | null; place: string; id: string }[] {
  if (eventName !== confirmed || filter === undefined) return []
  return comparisonsOf(filter).flatMap(({ field, value }) => {
    if (!/^(event|trigger)\.formId$/.test(field)) return []
    const ids = Array.isArray(value) ? value : [value]
    return ids.filter((id) => typeof id === 'string').map((id) => ({ key, place, id }))
  })
}
