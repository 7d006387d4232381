import type { BlockedReason, Compiled, CompiledStep } from '../definition/index.js'
import type { Run } from './runs.js'

/** What the sentence is made of. */
export type ExplainedRun = Pick<
  Run,
  'status' | 'reason' | 'currentStep' | 'updatedAt' | 'waitingFor'
>

/** The sentence that says why a run is where it is and until when; times in UTC. */
export function explainRun(
  version: Compiled,
  run: ExplainedRun,
  now: number,
  /** Since when an operator has paused the automation. */
  pausedAt: number | null = null,
): string {
  const sentence = explained(version, run, now)
  const isLive = run.status === 'running' || run.status === 'waiting'
  // The run itself does not know of the pause yet: it is held as soon as it falls due.
  if (pausedAt === null || !isLive || run.waitingFor?.kind === 'held') return sentence
  return `${sentence}; but the automation is paused since ${dateOf(pausedAt, now)}: no step is taken until an operator resumes it`
}

/**
 * One sentence for people, by support and on the page alike: which step, what it waits for, until
 * when, and what comes then.
 */
function explained(version: Compiled, run: ExplainedRun, now: number): string {
  const { status, reason, currentStep, updatedAt, waitingFor } = run
  const step = version.byKey.get(currentStep ?? '')
  const where = stepName(step)
  if (status !== 'running' && status !== 'waiting') {
    const why =
      reason === null ? '' : `: ${isOwnWord(step, reason) ? reason : (endings[reason] ?? reason)}`
    return `${status} at ${where} on ${dateOf(updatedAt, now)}${why}`
  }
  if (waitingFor === null) return `is about to go on at ${where}`
  const { kind, until, event = '', reason: held = '' } = waitingFor
  if (kind === 'held' || until === null) {
    return `is held at ${where} (${held}) until an operator releases it`
  }
  if (kind !== 'delay' && kind !== 'event') {
    return `waits at ${where}: ${blocks[kind]} ${until <= now ? 'now' : dateOf(until, now)}`
  }
  if (until <= now) return `is about to go on at ${where}`
  if (kind === 'delay') return `waits until ${dateOf(until, now)}, then ${then(step)}`
  return `waits for \`${event}\` until ${dateOf(until, now)}, then ${timeout(step)}`
}

/** A timeout without an edge ends the run. Authors often do not expect that, so it is said. */
const timeout = (step: CompiledStep | undefined): string => {
  const next = step?.next.get('timeout')
  return next === undefined ? 'ends (timed_out)' : `branch timeout, to ${stepName(next)}`
}

/** What comes after a delay. */
const then = (step: CompiledStep | undefined): string => {
  const next = step?.next.get('default')
  return next === undefined ? 'ends' : `goes on at ${stepName(next)}`
}

// An exit may use as its own reason a word that Posthorn uses for something else, such as `deleted`.
const isOwnWord = (step: CompiledStep | undefined, reason: string): boolean =>
  step?.step.type === 'exit' && step.step.config.reason === reason

/** A step as sentences name it. */
const stepName = (step: CompiledStep | undefined): string =>
  step === undefined ? 'an unknown step' : `\`${step.step.key}\``

// The words for each reason to wait; a time follows them in the sentence.
const blocks: Record<BlockedReason | 'retry', string> = {
  retry: 'its last attempt broke; it is tried again',
  suspended: 'the account is suspended; it is looked at again',
  quota: "the plan's quota of mails is used up; it is looked at again",
  paused: 'the account is paused; it is looked at again',
  domain: "the sender's domain is not verified; it is looked at again",
  plan: 'the subscription has expired, or the account has no marketing plan; it is looked at again',
  queue_full: 'the queue or the disk of the appliance is full; it is looked at again',
  window: 'the send window opens',
  cap: 'the automation has made its mails of this hour; it goes on',
}

/**
 * Reasons are codes in the database and in the API; these are their words. A reason that an author wrote into an exit
 * step is shown as it is.
 */
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
  topic_archived: 'its topic is archived or does not exist',
  api: 'it was cancelled through the API',
  archived: 'the automation was archived',
  operator: 'an operator cancelled it',
  team: 'somebody of the team cancelled it',
}

/** Why a run has ended, in words; a reason that an author wrote into an exit step stays as it is. */
export const endingWords = (reason: string): string =>
  Object.hasOwn(endings, reason) ? (endings[reason] ?? reason) : reason

/** "3 Dec 09:00 UTC"; with the year where it is not the current one. */
function dateOf(at: number, now: number): string {
  const date = new Date(at)
  const year = date.getUTCFullYear()
  const month = date.toLocaleString('en', { month: 'short', timeZone: 'UTC' })
  const day = `${date.getUTCDate()} ${month}${year === new Date(now).getUTCFullYear() ? '' : ` ${year}`}`
  return `${day} ${date.toISOString().slice(11, 16)} UTC`
}
