import type { Compiled, CompiledStep } from './compile.js'
import type { JsonObject, Step, StepOf, StepType } from './definition.js'
import { limits } from './definition.js'
import { durationMs, maxWaitMs } from './duration.js'
import { type Facts, resolve, shownContact } from './field.js'
import { holds, type Judged, judge } from './rule.js'
import type {
  BlockedReason,
  Departure,
  EndStatus,
  Engagement,
  HistoryEntry,
  Obstacle,
  RunState,
  StoredEvent,
  Traveller,
} from './run.js'
import { branchOf } from './split.js'
import { type ContactChanges, changed, changesOf } from './update.js'
import { nextTimeOfDay, windowOpens, zoneOf } from './window.js'

/** What the store has of a run's contact, read before the walk. */
export interface Known {
  /** Undefined once deleted. */
  contact: Traveller | undefined
  trigger: StoredEvent
  /** What ends all of the contact's runs, if it has happened. */
  departed: Departure | undefined
  /** The contact's earliest event of that name with an id above `after`. */
  nextEvent(name: string, after: number): StoredEvent | undefined
  /** What became of the latest mail that this run sent at that step; undefined if none. */
  mail(stepKey: string): Engagement | undefined
  optedOut(topicId: string): boolean
  /** What keeps this mail from being made now: quota, pause, domain, cap …, or for good. */
  obstacle(step: StepOf<'send_email'>, variables: JsonObject): Obstacle | undefined
}

export type StepAction =
  /** `entry` is the index in `history` of its `sent`, which lacks the mail's id. */
  | {
      kind: 'mail'
      stepId: number
      step: StepOf<'send_email'>
      variables: JsonObject
      entry: number
    }
  | { kind: 'update'; stepId: number; changes: ContactChanges }
  | { kind: 'webhook'; stepId: number; endpointId: string; payload: JsonObject }

export type Next =
  /**
   * Waits in a delay, or for `waitEvent`. `seen` is the newest event of that name that the walk has
   * looked at: a newer one that is there when this is written makes the plan void.
   */
  | { kind: 'park'; stepId: number; dueAt: number; waitEvent: string | null; seen: number }
  | { kind: 'blocked'; stepId: number; reason: BlockedReason; until: number }
  /** Others' turn; due at once. */
  | { kind: 'continue'; stepId: number }
  | { kind: 'end'; stepId: number; status: EndStatus; reason: string | null }

/** What `why` a step's result has: how its rule came out. Not kept. */
export type WalkedEntry = HistoryEntry & { why?: Judged }

export interface Walked {
  actions: StepAction[]
  next: Next
  /** Only what this walk adds. */
  history: WalkedEntry[]
  /** What takes the place of the run's own. */
  heard: RunState['heard']
  waits: RunState['waits']
  steps: number
  mails: number
}

/**
 * Takes a run from where it is to where it waits or ends, 100 steps at most, and says what it does on
 * the way. The only interpreter of automations: the engine, the simulator and the tests call it. It
 * reads nothing but its parameters. It stops at the first mail that cannot be made, so that what came
 * before is committed and that alone is tried again.
 */
export function walk(version: Compiled, run: RunState, known: Known, now: number): Walked {
  const state = begin(version, run, known, now)
  for (let taken = 0; taken < limits.stepsPerWalk; taken += 1) {
    const next = leaving(state) ?? takeStep(state)
    if (next !== undefined) return finish(state, next)
  }
  return finish(state, { kind: 'continue', stepId: state.at.id })
}

/** A walk on its way. */
interface Going {
  version: Compiled
  run: RunState
  known: Known
  now: number
  at: CompiledStep
  /** Null as soon as the step in which the run waited is left. */
  enteredAt: number | null
  wokenBy: StoredEvent | null
  contact: Traveller | undefined
  actions: StepAction[]
  history: WalkedEntry[]
  heard: Record<string, number>
  waits: { key: string; event: StoredEvent }[]
  /** Keys of sends whose mail is being made by this walk. */
  sent: Set<string>
  steps: number
  mails: number
}

function begin(version: Compiled, run: RunState, known: Known, now: number): Going {
  const at = version.byId.get(run.stepId)
  if (at === undefined) throw new Error(`the version has no step ${run.stepId}`)
  const { enteredAt, wokenBy, steps, mails } = run
  return {
    version,
    run,
    known,
    now,
    at,
    enteredAt,
    wokenBy,
    contact: known.contact,
    actions: [],
    history: [],
    heard: { ...run.heard },
    waits: [...run.waits],
    sent: new Set(),
    steps,
    mails,
  }
}

function finish({ actions, history, heard, waits, steps, mails }: Going, next: Next): Walked {
  return { actions, next, history, heard, waits, steps, mails }
}

/** What ends a run wherever it is. */
function leaving(state: Going): Next | undefined {
  const end = endOf(state)
  if (end !== undefined) note(state, `ended:${end.reason}`)
  return end
}

function endOf({ version, run, known, now, at, steps }: Going): Ended | undefined {
  const departed = known.contact === undefined ? 'deleted' : known.departed
  if (departed !== undefined && !staysOn(version, departed)) return exit(at, departed)
  if (now - run.startedAt > limits.runAgeMs) return exit(at, 'expired')
  if (steps >= limits.stepsPerRun) return fail(at, 'limit')
  return undefined
}

/** Whether runs of this version outlive what the contact has done. */
export const staysOn = ({ settings }: Compiled, departed: Departure): boolean =>
  departed === 'unsubscribed' && settings.onUnsubscribe === 'continue'

type Taken =
  /** Goes on along that edge; where there is none the run has come to its end. */
  { edge: string; result: string; why?: Judged; eventId?: number } | Next

type Take<T extends StepType> = (state: Going, step: StepOf<T>) => Taken

const takes: { [T in StepType]: Take<T> } = {
  trigger: () => ({ edge: 'default', result: 'started' }),
  send_email: send,
  delay,
  wait_for_event: waitForEvent,
  condition(state, { config }) {
    const why = judge(config, factsOf(state))
    return why.holds
      ? { edge: 'condition_met', result: 'met', why }
      : { edge: 'condition_not_met', result: 'not_met', why }
  },
  contact_update(state, { config }) {
    const { contact } = state
    const changes = changesOf(config, (value) => resolve(factsOf(state), value))
    const updated = contact && changes && changed(contact, changes)
    if (updated === undefined || changes === undefined) {
      return { edge: 'default', result: 'skipped:invalid_value' }
    }
    state.contact = updated
    state.actions.push({ kind: 'update', stepId: state.at.id, changes })
    return { edge: 'default', result: 'updated' }
  },
  split({ version, run }, { key, config }) {
    const branch = branchOf(config.branches, `${version.seed}:${run.contactId}:${key}`)
    return { edge: `branch:${branch}`, result: `branch:${branch}` }
  },
  webhook(state, { config: { endpointId, payload = {} } }) {
    const filled = filledIn(state, payload)
    state.actions.push({ kind: 'webhook', stepId: state.at.id, endpointId, payload: filled })
    return { edge: 'default', result: 'queued' }
  },
  exit: ({ at }) => exit(at, 'exit_step'),
}

/** Takes the step at which the run is; undefined while it goes on at the next. */
function takeStep(state: Going): Next | undefined {
  const { at } = state
  const taken = take(state, at.step)
  if (!('edge' in taken)) {
    if (taken.kind === 'blocked') noteBlocked(state, taken.reason)
    if (taken.kind === 'end') note(state, `ended:${taken.reason ?? taken.status}`)
    return taken
  }
  const { edge, ...entry } = taken
  state.history.push({ stepId: at.id, at: state.now, ...entry })
  state.steps += 1
  state.enteredAt = null
  state.wokenBy = null
  const next = at.next.get(edge)
  if (next !== undefined) {
    state.at = next
    return undefined
  }
  // What should have come did not come, and nobody said what then: that is no success.
  if (edge === 'timeout') return exit(at, 'timed_out')
  return { kind: 'end', stepId: at.id, status: 'completed', reason: null }
}

// The table has a function for each type, which the compiler cannot follow through the union.
function take<T extends StepType>(state: Going, step: Step): Taken {
  const steps = takes as { [T in StepType]: (state: Going, step: Step) => Taken } & typeof takes
  return steps[step.type as T](state, step as StepOf<T>)
}

function send(state: Going, step: StepOf<'send_email'>): Taken {
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
  if (obstacle?.kind === 'skipped') return { edge: 'default', result: `skipped:${obstacle.reason}` }
  if (obstacle?.kind === 'blocked') {
    return { kind: 'blocked', stepId: at.id, reason: obstacle.reason, until: obstacle.until }
  }
  const entry = state.history.length
  state.actions.push({ kind: 'mail', stepId: at.id, step, variables: filled, entry })
  state.sent.add(step.key)
  state.mails += 1
  return { edge: 'default', result: 'sent' }
}

function delay(state: Going, { config }: StepOf<'delay'>): Taken {
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

function waitForEvent(state: Going, step: StepOf<'wait_for_event'>): Taken {
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

function factsOf({ contact, known, waits, sent }: Going): Facts {
  return {
    contact,
    trigger: known.trigger,
    event: waits.at(-1)?.event ?? known.trigger,
    waits,
    // Nobody has opened what is only being made.
    mail: (key) => (sent.has(key) ? unread : known.mail(key)),
  }
}

const unread: Engagement = { opened: false, clicked: false, delivered: false, bounced: false }

function filledIn(state: Going, values: Record<string, Parameters<typeof resolve>[1]>): JsonObject {
  const facts = factsOf(state)
  const entries = Object.entries(values).flatMap(([name, given]) => {
    const value = resolve(facts, given)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

/** What a mail's template sees. A variable whose field is missing is missing. */
function mailVariables(
  state: Going,
  values: Record<string, Parameters<typeof resolve>[1]>,
): JsonObject {
  const { contact, known, waits } = state
  return {
    ...filledIn(state, values),
    ...(contact === undefined ? {} : { contact: shownContact(contact) }),
    trigger: known.trigger.payload ?? {},
    event: (waits.at(-1)?.event ?? known.trigger).payload ?? {},
    waits: Object.fromEntries(waits.map(({ key, event }) => [key, event.payload ?? {}])),
  }
}

function note({ at, now, history }: Going, result: string): void {
  history.push({ stepId: at.id, at: now, result })
}

// Once, however often it is looked at: the last thing that happened is still that it is blocked.
function noteBlocked(state: Going, reason: BlockedReason): void {
  const last = state.history.at(-1) ?? state.run.history.at(-1)
  const result = `blocked:${reason}`
  if (last?.stepId !== state.at.id || last.result !== result) note(state, result)
}

type Ended = Next & { kind: 'end' }

const exit = (at: CompiledStep, reason: string): Ended => ({
  kind: 'end',
  stepId: at.id,
  status: 'exited',
  reason,
})

const fail = (at: CompiledStep, reason: string): Ended => ({
  kind: 'end',
  stepId: at.id,
  status: 'failed',
  reason,
})
