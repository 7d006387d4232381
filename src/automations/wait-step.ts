import type { Compiled } from './compile.js'
import type { StepOf } from './definition.js'
import { durationMs, maxWaitMs } from './duration.js'
import type { Facts } from './field.js'
import { factsOf, type Going, type Taken } from './going.js'
import { holds } from './rule.js'
import type { RunState, StoredEvent } from './run.js'
import { nextTimeOfDay, zoneOf } from './window.js'

export function delay(state: Going, { config }: StepOf<'delay'>): Taken {
  const { run, version, contact, now, at, enteredAt } = state
  if (enteredAt !== null && now >= run.dueAt) return { edge: 'default', result: 'waited' }
  const park = { kind: 'park', stepId: at.id, waitEvent: null, seen: 0 } as const
  // Looked at too early: the clock has gone back.
  if (enteredAt !== null) return { ...park, dueAt: run.dueAt }
  const { duration, until } = config
  if (until !== undefined) {
    const zone = zoneOf(until.zone, contact, version.settings.timeZone)
    return { ...park, dueAt: nextTimeOfDay(until, zone, now) }
  }
  return { ...park, dueAt: now + (durationMs(duration ?? '') ?? 0) }
}

export function waitForEvent(state: Going, step: StepOf<'wait_for_event'>): Taken {
  const { run, now, at, enteredAt, known } = state
  const { eventName, timeout, since } = step.config
  const entered = enteredAt !== null
  // An event that came before the step, of no interest to this one, is still there for another wait.
  const mark = `@${step.key}`
  const strict = since === 'step'
  const heard = state.heard[eventName] ?? known.trigger.id
  let seen = Math.max(heard, strict && entered ? (state.heard[mark] ?? 0) : 0)
  // Ingest has judged it as it came; what the contact is by now does not undo that.
  let found = state.wokenBy?.name === eventName ? state.wokenBy : undefined
  while (found === undefined) {
    const event = known.nextEvent(eventName, seen)
    if (event === undefined) break
    seen = event.id
    if ((!strict || entered) && satisfies(state, step, event)) found = event
  }
  if (found !== undefined) {
    const event = found
    state.heard[eventName] = Math.max(heard, event.id)
    state.waits = [...state.waits.filter(({ key }) => key !== step.key), { key: step.key, event }]
    return { edge: 'event_received', result: 'received', eventId: event.id }
  }
  if (entered && now >= run.dueAt) return { edge: 'timeout', result: 'timed_out' }
  if (strict && !entered) state.heard[mark] = seen
  const forMs = durationMs(timeout ?? '') ?? maxWaitMs
  const dueAt = entered ? run.dueAt : now + forMs
  return { kind: 'park', stepId: at.id, dueAt, waitEvent: eventName, seen }
}

function satisfies(state: Going, { config }: StepOf<'wait_for_event'>, event: StoredEvent) {
  return holds(config.filter, { ...factsOf(state), event })
}

/**
 * Whether an event that has just come ends the wait in which a run is parked. `known` needs no more
 * than what rules read.
 */
export function wakes(
  version: Compiled,
  run: Pick<RunState, 'stepId' | 'waits'>,
  facts: Omit<Facts, 'event' | 'waits'>,
  event: StoredEvent,
): boolean {
  const step = version.byId.get(run.stepId)?.step
  if (step?.type !== 'wait_for_event' || step.config.eventName !== event.name) return false
  return holds(step.config.filter, { ...facts, waits: run.waits, event })
}
