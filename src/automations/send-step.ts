import { type Json, type JsonObject, limits, type StepOf, type Variable } from './definition.js'
import { resolve, shownContact } from './field.js'
import { factsOf, fail, type Going, type Taken } from './going.js'
import { windowOpens, zoneOf } from './window.js'

/** Has a mail made, unless the contact or something else keeps it from being made. */
export function send(state: Going, step: StepOf<'send_email'>): Taken {
  const { known, version, contact, now, at } = state
  const { topicId, variables = {} } = step.config
  if (topicId !== undefined && known.optedOut(topicId)) {
    return { edge: 'default', result: 'skipped:left_topic' }
  }
  if (state.mails >= limits.mailsPerRun) return fail(at, 'limit')
  const { sendWindow, timeZone } = version.settings
  if (sendWindow !== undefined) {
    const opens = windowOpens(sendWindow, zoneOf(sendWindow.zone, contact, timeZone), now)
    if (opens > now) return { kind: 'blocked', stepId: at.id, reason: 'window', until: opens }
  }
  const filled = mailVariables(state, variables)
  const obstacle = known.obstacle(step, filled)
  if (obstacle?.kind === 'failed') return fail(at, obstacle.reason)
  if (obstacle?.kind === 'skipped') {
    return { edge: 'default', result: `skipped:${obstacle.reason}` }
  }
  if (obstacle?.kind === 'blocked') {
    return { kind: 'blocked', stepId: at.id, reason: obstacle.reason, until: obstacle.until }
  }
  const entry = state.history.length
  state.actions.push({ kind: 'mail', stepId: at.id, step, variables: filled, entry })
  state.sent.add(step.key)
  state.mails += 1
  return { edge: 'default', result: 'sent' }
}

/** Values with their variables filled in; one whose field is missing is left out. */
export function filledIn(state: Going, values: Record<string, Json | Variable>): JsonObject {
  const facts = factsOf(state)
  const entries = Object.entries(values).flatMap(([name, given]) => {
    const value = resolve(facts, given)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

/** What a mail's template sees. A variable whose field is missing is missing. */
function mailVariables(state: Going, values: Record<string, Json | Variable>): JsonObject {
  const { contact, known, waits } = state
  return {
    ...filledIn(state, values),
    ...(contact === undefined ? {} : { contact: shownContact(contact) }),
    trigger: known.trigger.payload ?? {},
    event: (waits.at(-1)?.event ?? known.trigger).payload ?? {},
    waits: Object.fromEntries(waits.map(({ key, event }) => [key, event.payload ?? {}])),
  }
}
