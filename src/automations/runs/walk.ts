import { createHash } from 'node:crypto'
import {
  type BlockedReason,
  type Branch,
  type Compiled,
  judge,
  limits,
  type RunState,
  resolve,
  type StepDefinition,
  type StepOf,
  type StepType,
  staysOn,
} from '../definition/index.js'
import {
  delay,
  exit,
  factsOf,
  fail,
  filledIn,
  note,
  type RunEnd,
  type StepResult,
  send,
  type WalkState,
  waitForEvent,
} from './steps.js'
import { changed, changesOf } from './update.js'
import type { Next, RunFacts, Walked } from './walked.js'

/**
 * Takes a run from where it is to where it waits or ends, 100 steps at most, and says what it does on the way. It is
 * the only interpreter of automations: the engine, the simulator and the tests call it. It reads nothing but its
 * parameters. It stops at the first mail that cannot be made, so that the steps before are committed and only that mail
 * is tried again.
 */
export function walk(version: Compiled, run: RunState, known: RunFacts, now: number): Walked {
  const state = begin(version, run, known, now)
  for (let taken = 0; taken < limits.stepsPerWalk; taken += 1) {
    const next = leaving(state) ?? takeStep(state)
    if (next !== undefined) return finish(state, next)
  }
  return finish(state, { kind: 'continue', stepId: state.at.id })
}

/**
 * A walk changes nothing that it is given; what it decides is collected in `WalkState` and handed back.
 */
function begin(version: Compiled, run: RunState, known: RunFacts, now: number): WalkState {
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
    // Without a prototype: an event may be named `constructor`.
    heard: Object.assign(Object.create(null), run.heard),
    waits: [...run.waits],
    sent: new Set(),
    steps,
    mails,
  }
}

/** What the walk has collected, with where it ends. */
function finish({ actions, history, heard, waits, steps, mails }: WalkState, next: Next): Walked {
  return { actions, next, history, heard, waits, steps, mails }
}

/** What ends a run wherever it is. */
function leaving(state: WalkState): Next | undefined {
  const end = endOf(state)
  if (end !== undefined) note(state, `ended:${end.reason}`)
  return end
}

/**
 * Looked at before every step, because a contact may unsubscribe, and a limit be reached, between
 * two steps of one walk.
 */
function endOf({ version, run, known, now, at, steps }: WalkState): RunEnd | undefined {
  const departed = known.contact === undefined ? 'deleted' : known.departed
  if (departed !== undefined && !staysOn(version, departed)) return exit(at, departed)
  if (now - run.startedAt > limits.runAgeMs) return exit(at, 'expired')
  if (steps >= limits.stepsPerRun) return fail(at, 'limit')
  return undefined
}

/** How a step of a type is taken. */
type Take<T extends StepType> = (state: WalkState, step: StepOf<T>) => StepResult

// Every type of step, and what it does. Those that send, wait or listen are in `steps.ts`.
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
    const entry = state.history.length
    state.actions.push({ kind: 'webhook', stepId: state.at.id, endpointId, payload: filled, entry })
    return { edge: 'default', result: 'queued' }
  },
  exit: ({ at }, { config }) => exit(at, config.reason ?? 'exit_step'),
}

/** Takes the step at which the run is; undefined while it goes on at the next. */
function takeStep(state: WalkState): Next | undefined {
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
  // What was awaited did not come, and no edge says what then: that is no success.
  if (edge === 'timeout') return exit(at, 'timed_out')
  return { kind: 'end', stepId: at.id, status: 'completed', reason: null }
}

// The table has a function for each type, which the compiler cannot follow through the union.
function take<T extends StepType>(state: WalkState, step: StepDefinition): StepResult {
  const steps = takes as {
    [T in StepType]: (state: WalkState, step: StepDefinition) => StepResult
  } & typeof takes
  return steps[step.type as T](state, step as StepOf<T>)
}

// Noted once, however often the run is looked at: the last thing that happened is still that it is blocked.
function noteBlocked(state: WalkState, reason: BlockedReason): void {
  const last = state.history.at(-1) ?? state.run.history.at(-1)
  const result = `blocked:${reason}`
  if (last?.stepId !== state.at.id || last.result !== result) note(state, result)
}

/**
 * The branch that `what` falls into: by its hash, so that the same contact falls into the same one
 * each time, and evenly over many. Branches add up to 100.
 */
export function branchOf(branches: readonly Branch[], what: string): string {
  // 48 bits, as a share of 100.
  const place = (createHash('sha256').update(what).digest().readUIntBE(0, 6) / 2 ** 48) * 100
  let upTo = 0
  for (const { key, percent } of branches) {
    upTo += percent
    if (place < upTo) return key
  }
  // Where percents are fractions, their sum may fall short of 100 by a rounding.
  return branches.at(-1)?.key ?? ''
}
