import type { Read } from '../../store/index.js'
import { isCopyTag, mergeValues, stranger } from '../../templates/index.js'
import type { AutomationDefinition, SendConfig } from './definition.js'
import { coded, type StepFault } from './fault.js'
import { formWarnings } from './forms.js'
import { stepsBefore } from './graph.js'
import { makeMailTemplates } from './mail-template.js'
import { pathFault } from './rule-tree.js'

/** All that is not wrong with a definition but that its author should know. */
export const automationWarnings = async (
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<StepFault[]> => [
  ...(await templateWarnings(read, accountId, definition)),
  ...bounceWarnings(definition),
  ...(await formWarnings(read, accountId, definition)),
]

/** A bounce that suppresses its address ends the contact's runs, so that few are heard. */
function bounceWarnings({ steps }: AutomationDefinition): StepFault[] {
  return steps.flatMap(({ key, type, config }) => {
    if (type !== 'trigger' && type !== 'wait_for_event') return []
    if (config.eventName !== '$email.bounced') return []
    const effect = type === 'trigger' ? 'starts no run' : "ends the contact's runs"
    const error = `A bounce that suppresses its address ${effect}; "$email.bounced" tells of the others`
    return [coded(key, 'bounceHears', `${error}, such as a full mailbox`)]
  })
}

/**
 * What will fail when the step runs, though nothing is wrong yet: variables that the templates of send steps need and
 * that those steps cannot know. Templates that are more than merging tell only when they are rendered.
 */
export async function templateWarnings(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<StepFault[]> {
  const templates = makeMailTemplates()
  const needs = new Map<SendConfig, string[]>()
  for (const { type, config } of definition.steps) {
    if (type !== 'send_email') continue
    const found = await templates(read, accountId, config)
    const required = found?.pieces?.tags.filter((tag) => tag.required) ?? []
    needs.set(
      config,
      required.map(({ path }) => path.join('.')),
    )
  }
  return warningsOf(definition, (send) => needs.get(send) ?? [])
}

/** The warnings, where `requiredBy` says without which paths the template of a send cannot be rendered. */
export function warningsOf(
  definition: AutomationDefinition,
  requiredBy: (send: SendConfig) => readonly string[],
): StepFault[] {
  const before = stepsBefore(definition)
  return definition.steps.flatMap((step) => {
    if (step.type !== 'send_email') return []
    const { variables = {}, template, type } = step.config
    const possible = before.get(step.key) ?? new Set<string>()
    const lacking = new Set(
      requiredBy(step.config)
        .filter((path) => type === 'transactional' || !isCopyTag(path))
        .filter((path) => !isKnown(path, variables, possible)),
    )
    return [...lacking].map((path) => {
      const error = `Template "${template}" needs "${path}", which this step does not know`
      const whole = `${error}: give it in "variables"`
      return coded(step.key, 'needsVariable', whole, template, path)
    })
  })
}

// What is merged of any contact, as in a campaign.
const ofContacts = mergeValues(stranger)

/**
 * What a template may read at a step: payloads of events are the client's, so anything may be in
 * them, while everything else has known names.
 */
function isKnown(path: string, variables: object, before: ReadonlySet<string>): boolean {
  const [root = '', key = ''] = path.split('.')
  if (Object.hasOwn(variables, root)) return true
  if (Object.hasOwn(ofContacts, root) && (root === 'metadata' || key === '')) return true
  if (root === 'waits') return before.has(key)
  if (root === 'contact' && (key === '' || path === 'contact.metadata')) return true
  return (
    root !== 'email' && (root === 'event' || root === 'trigger' || pathFault(path) === undefined)
  )
}
