import { nextTimeOfDay, windowOpens } from '../../clock/index.js'
import type { Json, JsonObject } from '../../json/index.js'
import { copyTags, namedValues } from '../../templates/index.js'
import {
  type Compiled,
  type CompiledStep,
  durationMs,
  type Engagement,
  type Facts,
  holds,
  type Judged,
  limits,
  maxWaitMs,
  type RunContact,
  type RunState,
  resolve,
  type StepOf,
  type StoredEvent,
  shownContact,
  type Variable,
  zoneOf,
} from '../definition/index.js'
import type { Next, RunFacts, StepAction, WalkedEntry } from './walked.js'

/** How far a walk has come: one run, taken through its steps in memory. */
export interface WalkState {
  version: Compiled
  run: RunState
  known: RunFacts
  now: number
  at: CompiledStep
  /** Null as soon as the step in which the run waited is left. */
  enteredAt: number | null
  wokenBy: StoredEvent | null
  contact: RunContact | undefined
  actions: StepAction[]
  history: WalkedEntry[]
  heard: Record<string, number>
  waits: { key: string; event: StoredEvent }[]
  /** Keys of sends whose mail is being made by this walk. */
  sent: Set<string>
  steps: number
  mails: number
}

/** What follows from a step: the edge that the run leaves by, or where it stays. */
export type StepResult =
  /** The run goes on along that edge; where there is none it has come to its end. */
  { edge: string; result: string; why?: Judged; eventId?: number } | Next

/** What a step comes to that ends its run. */
export type RunEnd = Next & { kind: 'end' }

/** An end that was meant, as opposed to `fail`. */
export const exit = (at: CompiledStep, reason: string): RunEnd => ({
  kind: 'end',
  stepId: at.id,
  status: 'exited',
  reason,
})

/** An end that is a fault, counted apart: somebody has to do something about it. */
export const fail = (at: CompiledStep, reason: string): RunEnd => ({
  kind: 'end',
  stepId: at.id,
  status: 'failed',
  reason,
})

/** A line of history about the step at which the walk is. */
export function note({ at, now, history }: WalkState, result: string): void {
  history.push({ stepId: at.id, at: now, result })
}

/** What rules and variables see at this step. */
export function factsOf({ contact, known, waits, sent, now }: WalkState): Facts {
  return {
    contact,
    trigger: known.trigger,
    event: waits.at(-1)?.event ?? known.trigger,
    waits,
    // Nobody has opened a mail that is only being made.
    mail: (key) => (sent.has(key) ? unread : known.mail(key)),
    now,
  }
}

const unread: Engagement = { opened: false, clicked: false, delivered: false, bounced: false }

/** Has a mail made, unless the contact or something else keeps it from being made. */
export function send(state: WalkState, step: StepOf<'send_email'>): StepResult {
  const { known, version, contact, now, at } = state
  const { topicId } = step.config
  if (topicId !== undefined && known.optedOut(topicId)) {
    return { edge: 'default', result: 'skipped:left_topic' }
  }
  if (state.mails >= limits.mailsPerRun) return fail(at, 'limit')
  const { sendWindow, timeZone } = version.settings
  if (sendWindow !== undefined) {
    const opens = windowOpens(sendWindow, zoneOf(sendWindow.zone, contact, timeZone), now)
    if (opens > now) return { kind: 'blocked', stepId: at.id, reason: 'window', until: opens }
  }
  const filled = mailVariables(state, step)
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

/** Values with their variables filled in; a value whose field is missing is left out. */
export function filledIn(state: WalkState, values: Record<string, Json | Variable>): JsonObject {
  const facts = factsOf(state)
  const entries = Object.entries(values).flatMap(([name, given]) => {
    const value = resolve(facts, given)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

/** What a mail's template sees. A variable whose field is missing is missing. */
function mailVariables(
  state: WalkState,
  { config: { variables = {}, type } }: StepOf<'send_email'>,
): JsonObject {
  const { contact, known, waits } = state
  // As in a campaign, so that one template serves both; the step's own values win.
  const own: JsonObject = contact === undefined ? {} : namedValues(contact, contact.metadata)
  return Object.assign(
    own,
    type === 'transactional' ? {} : copyTags,
    filledIn(state, variables),
    contact === undefined ? {} : { contact: shownContact(contact) },
    {
      trigger: known.trigger.payload ?? {},
      event: (waits.at(-1)?.event ?? known.trigger).payload ?? {},
      waits: Object.fromEntries(waits.map(({ key, event }) => [key, event.payload ?? {}])),
    },
  )
}

/** Taken twice: the first time it parks the run; the second time the timer has run out, and the run goes on. */
export function delay(state: WalkState, { config }: StepOf<'delay'>): StepResult {
  const { run, version, contact, now, at, enteredAt } = state
  if (enteredAt !== null && now >= run.dueAt) return { edge: 'default', result: 'waited' }
  const park = { kind: 'park', stepId: at.id, waitEvent: null, seen: 0 } as const
  // The run is looked at too early: the clock has gone back.
  if (enteredAt !== null) return { ...park, dueAt: run.dueAt }
  const { duration, until } = config
  if (until !== undefined) {
    const zone = zoneOf(until.zone, contact, version.settings.timeZone)
    return { ...park, dueAt: nextTimeOfDay(until, zone, now) }
  }
  return { ...park, dueAt: now + (durationMs(duration ?? '') ?? 0) }
}

/**
 * An event may have come before the run got here. With `since: "step"` only later events count. By default every event
 * counts that this run has not used yet, so that a fast customer is not asked to pay twice.
 */
export function waitForEvent(state: WalkState, step: StepOf<'wait_for_event'>): StepResult {
  const { run, now, at, enteredAt, known } = state
  const { eventName, timeout, since } = step.config
  const entered = enteredAt !== null
  // An event that came before the step does not count here, but is still there for another wait.
  const mark = `@${step.key}`
  const strict = since === 'step'
  const heard = state.heard[eventName] ?? known.trigger.id
  let seen = Math.max(heard, strict && entered ? (state.heard[mark] ?? 0) : 0)
  // Ingest has judged the event as it came; a later change of the contact does not undo that.
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

/** Whether an event is what a wait is for. */
function satisfies(state: WalkState, { config }: StepOf<'wait_for_event'>, event: StoredEvent) {
  return holds(config.filter, { ...factsOf(state), event })
}

/**
 * Whether an event that has just come ends the wait in which a run is parked. Of `known` only what rules read is
 * needed.
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
