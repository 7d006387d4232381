import { type Compiled, endingWords, type Run } from '../../automations/index.js'
import { exactIn, plural } from '../format.js'
import { edgeWords } from './words.js'

// Why a step cannot be taken yet, in the account's words.
const blocks: Readonly<Record<string, string>> = {
  suspended: 'the account is suspended',
  quota: 'the mails of your plan are used up',
  paused: 'sending is paused',
  domain: 'the sender’s domain is not verified',
  plan: 'the account has no plan for it',
  queue_full: 'this server has too much mail to send',
  window: 'its hours for mail have not begun',
  cap: 'it has sent its mails of this hour',
  retry: 'the last attempt failed',
}

/** Why a step cannot be taken yet, or why a run is held. */
export const blockWords = (reason: string): string => blocks[reason] ?? reason

/** Why people wait who could go on by their time. */
export function blockedWords(kind: 'held' | 'blocked', reason: string, runs: number): string {
  const who = `${plural(runs, 'person').replace(/persons$/, 'people')} ${runs === 1 ? 'is' : 'are'}`
  return kind === 'held' ? `${who} held: ${reason}.` : `${who} waiting: ${blockWords(reason)}.`
}

/** What a run's sentence is made with. */
export interface RunSurroundings {
  compiled: Compiled
  /** What a step is called, by its key. */
  title: (key: string) => string
  zone: string
  now: number
  isPaused: boolean
}

/** Where a run is, until when and what comes then: `Waits for “order.paid” until 3 Dec 2026, 09:00:00, then …`. */
export function runSentence(run: Run, around: RunSurroundings): string {
  const { status, reason, currentStep, updatedAt, waitingFor } = run
  const { zone, now, title } = around
  const at = currentStep === null ? 'a step' : `“${title(currentStep)}”`
  if (status !== 'running' && status !== 'waiting') {
    const why = reason === null ? '' : `: ${endingWords(reason)}`
    return `${ends[status]} at ${at} on ${exactIn(updatedAt, zone)}${why}`
  }
  const paused =
    around.isPaused && waitingFor?.kind !== 'held' ? ' The automation is paused meanwhile.' : ''
  if (waitingFor === null) return `Goes on now at ${at}.${paused}`
  const { kind, until, event = '', reason: held = '' } = waitingFor
  if (kind === 'held' || until === null) return `Held at ${at}: ${held}`
  if (kind !== 'delay' && kind !== 'event') {
    const next = until <= now ? 'now' : `on ${exactIn(until, zone)}`
    return `Waits at ${at}: ${blockWords(kind)}. It is looked at again ${next}`
  }
  if (until <= now) return `Goes on now at ${at}.${paused}`
  const when = exactIn(until, zone)
  if (kind === 'delay')
    return `Waits until ${when}, then: ${after(around, currentStep, 'default')}${paused}`
  const way = edgeWords('timeout')
  return `Waits for “${event}” until ${when}, then goes the way “${way}”: ${after(around, currentStep, 'timeout')}${paused}`
}

const ends = {
  completed: 'Came to the end',
  exited: 'Left',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const

/** The step behind a way; without one the run ends. */
function after({ compiled, title }: RunSurroundings, key: string | null, way: string): string {
  const next = compiled.byKey.get(key ?? '')?.next.get(way)
  return next === undefined ? 'it ends' : title(next.step.key)
}

/** What came of a step, as a history says it. */
export function resultWords(result: string): string {
  const [kind = '', ...more] = result.split(':')
  const rest = more.join(':')
  const words = results[kind]
  if (words === undefined) return rest === '' ? kind : `${kind}: ${rest}`
  return rest === '' ? words : `${words}: ${ofKind[kind]?.(rest) ?? rest}`
}

const results: Readonly<Record<string, string>> = {
  started: 'Began',
  sent: 'The mail was made',
  waited: 'The wait is over',
  received: 'It came',
  timed_out: 'It did not come in time',
  met: 'Yes',
  not_met: 'No',
  skipped: 'Passed over',
  failed: 'Failed',
  blocked: 'Could not go on',
  moved: 'Moved to another version',
  released: 'Goes on after it was held',
  goal: 'Reached the goal',
  ended: 'Ended',
  branch: 'Took the branch',
  updated: 'The contact was changed',
  exit: 'The end',
  cut: 'Lines that were left out',
}

const ofKind: Readonly<Record<string, (rest: string) => string>> = {
  blocked: blockWords,
  ended: endingWords,
  released: (how) =>
    ({ shift: 'later by as long as that was', now: 'at once', skip: 'at once, without its mail' })[
      how
    ] ?? how,
}

// Why somebody does not enter.
const refusals: Readonly<Record<string, string>> = {
  already_running: 'They are in it now',
  already_entered: 'They have been through it, and it takes everybody once',
  too_soon: 'They were in it not long ago',
  filtered: 'Its condition does not let them in',
  suppressed: 'They unsubscribed, bounced, complained or are suppressed',
  too_old: 'What would begin it is too old',
  limit: 'They entered too often in the last hour',
  no_date: 'The field that it goes by has no day for them that is still to come',
}

/** Why an event begins nothing for somebody, as a sentence without its full stop. */
export const refusalWords = (reason: string): string => refusals[reason] ?? reason
