import type { Compiled } from './compile.js'
import type { Facts } from './field.js'
import { holds } from './rule.js'
import type { Departure, RunState, StoredEvent } from './run.js'

/** The names of the events that a run of this version hears wherever it is. */
export function listensTo({ settings: { exitOn = [], goal } }: Compiled): string[] {
  return [...new Set([...exitOn, ...(goal === undefined ? [] : [goal])].map((r) => r.eventName))]
}

/**
 * What an event does to a run wherever it is, by the automation's exit rules and its goal; undefined for nothing. This
 * comes before the wait in which the run may be parked. After `goal` the run goes on at that step, which is not begun.
 * Keep `heard` with the run, since a goal moves a run only once.
 */
export function hears(
  { settings: { exitOn = [], goal }, byKey }: Compiled,
  run: Pick<RunState, 'heard' | 'waits'>,
  facts: Omit<Facts, 'event' | 'waits'>,
  event: StoredEvent,
): ExitOrGoal | undefined {
  const all = { ...facts, waits: run.waits, event }
  const matches = (rule: { eventName: string; filter?: Parameters<typeof holds>[0] }) =>
    rule.eventName === event.name && holds(rule.filter, all)
  if (exitOn.some(matches)) return { kind: 'exit', reason: 'exit_rule' }
  if (goal === undefined || Object.hasOwn(run.heard, goalMark) || !matches(goal)) return undefined
  const target = goal.to === undefined ? undefined : byKey.get(goal.to)
  if (target === undefined) return { kind: 'exit', reason: 'goal' }
  return { kind: 'goal', stepId: target.id, heard: { ...run.heard, [goalMark]: event.id } }
}

/** What an event may do to a run: end it, or move it to the goal's step. */
type ExitOrGoal =
  | { kind: 'exit'; reason: 'exit_rule' | 'goal' }
  | { kind: 'goal'; stepId: number; heard: RunState['heard'] }

// No event has this name (RunState.heard).
const goalMark = '@goal'

/** Whether runs of this version outlive what the contact has done. */
export const staysOn = ({ settings }: Compiled, departed: Departure): boolean =>
  departed === 'unsubscribed' && settings.onUnsubscribe === 'continue'
