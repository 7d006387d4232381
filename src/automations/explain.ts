import type { Compiled, CompiledStep } from './compile.js'
import type { BlockedReason, EndStatus, RunState } from './run.js'

/** A run as `why` tells of it. */
export type ToldRun =
  | {
      state: RunState
      /** Why its send step waits; null if it does not. */
      blocked: BlockedReason | null
      /** Why an operator has to release it; null if nobody has to. */
      held: string | null
    }
  | { ended: { at: number; status: EndStatus; reason: string | null }; stepId: number }

/** The sentence that says why a run is where it is and until when; times in UTC. */
export function explainRun(version: Compiled, run: ToldRun, now: number): string {
  if ('ended' in run) {
    const { at, status, reason } = run.ended
    const where = stepName(version.byId.get(run.stepId))
    const why = reason === null ? '' : `: ${endings[reason] ?? reason}`
    return `${status} at ${where} on ${dateOf(at, now)}${why}`
  }
  const { state, blocked, held } = run
  const step = version.byId.get(state.stepId)
  if (held !== null) {
    return `is held at ${stepName(step)} (${held}) until an operator releases it`
  }
  if (blocked !== null) {
    return `waits at ${stepName(step)}: ${blocks[blocked]} ${dateOf(state.dueAt, now)}`
  }
  if (step === undefined) return 'is at a step that its version does not have'
  if (state.enteredAt === null || state.dueAt <= now)
    return `is about to go on at ${stepName(step)}`
  const until = dateOf(state.dueAt, now)
  if (step.step.type !== 'wait_for_event')
    return `waits until ${until}, then ${then(step, 'default')}`
  return `waits for \`${step.step.config.eventName}\` until ${until}, then ${timeout(step)}`
}

const timeout = (step: CompiledStep): string => {
  const next = step.next.get('timeout')
  return next === undefined ? 'ends (timed_out)' : `branch timeout, to ${stepName(next)}`
}

const then = (step: CompiledStep, edge: string): string => {
  const next = step.next.get(edge)
  return next === undefined ? 'ends' : `goes on at ${stepName(next)}`
}

const stepName = (step: CompiledStep | undefined): string =>
  step === undefined ? 'an unknown step' : `\`${step.step.key}\``

// Each ends before the time.
const blocks: Record<BlockedReason, string> = {
  quota: "the plan's quota of mails is used up; it is looked at again",
  paused: 'the account is paused; it is looked at again',
  domain: "the sender's domain is not verified; it is looked at again",
  plan: 'the account has no marketing plan; it is looked at again',
  queue_full: 'the queue is full; it is looked at again',
  window: 'the send window opens',
  cap: 'the automation has made its mails of this hour; it goes on',
}

const endings: Record<string, string> = {
  exit_step: 'it came to an exit',
  exit_rule: 'an event of its exit rules came',
  goal: 'it reached its goal',
  unsubscribed: 'the contact unsubscribed',
  bounced: "the contact's address bounced",
  complained: 'the contact complained',
  suppressed: "the contact's address is suppressed",
  deleted: 'the contact was deleted',
  expired: 'it was older than 400 days',
  timed_out: 'the event that it waited for did not come',
  limit: 'it had taken 1000 steps or made 100 mails',
  template_missing: 'its template does not exist',
  api: 'it was cancelled through the API',
  archived: 'the automation was archived',
  operator: 'an operator cancelled it',
}

/** "3 Dec 09:00 UTC"; with the year where it is another than now's. */
function dateOf(at: number, now: number): string {
  const date = new Date(at)
  const year = date.getUTCFullYear()
  const month = date.toLocaleString('en', { month: 'short', timeZone: 'UTC' })
  const day = `${date.getUTCDate()} ${month}${year === new Date(now).getUTCFullYear() ? '' : ` ${year}`}`
  return `${day} ${date.toISOString().slice(11, 16)} UTC`
}
