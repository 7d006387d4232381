import { counted } from '../../amounts/index.js'
import type { Compiled, Run } from '../../automations/index.js'
import { exactWithZone } from '../format.js'
import { inQuotes } from '../shell/names.js'
import { blockWords, endLine, leavingWords } from './result-words.js'
import { edgeWords } from './words.js'

/** Why people wait whose time has come. */
export function blockedWords(
  { kind, reason, runs }: { kind: 'held' | 'blocked'; reason: string; runs: number },
  isAll: boolean,
): string {
  const who = `${isAll ? '' : 'At least '}${counted(runs, 'person is', 'people are')}`
  return kind === 'held' ? `${who} held: ${reason}.` : `${who} waiting: ${blockWords(reason)}.`
}

/** What the sentence about a run needs. */
export interface RunSurroundings {
  compiled: Compiled
  /** A step's title, by its key. */
  title: (key: string) => string
  zone: string
  now: number
  isPaused: boolean
}

/** Where a run is, until when and what comes then: `Waits for “order.paid” until 3 Dec 2026, 09:00:00, then …`. */
export function runSentence(run: Run, around: RunSurroundings): string {
  const { status, currentStep, updatedAt, waitingFor } = run
  const { zone, now, title } = around
  const at = currentStep === null ? 'a step' : inQuotes(title(currentStep))
  if (status !== 'running' && status !== 'waiting') {
    return endSentence(run, around, { at, on: exactWithZone(updatedAt, zone) })
  }
  const paused =
    around.isPaused && waitingFor?.kind !== 'held' ? ' The automation is paused meanwhile.' : ''
  if (waitingFor === null) return `Goes on now at ${at}.${paused}`
  const { kind, until, event = '', reason: held = '' } = waitingFor
  if (kind === 'held' || until === null) return `Held at ${at}: ${held}`
  if (kind !== 'delay' && kind !== 'event') {
    const next = until <= now ? 'now' : `on ${exactWithZone(until, zone)}`
    return `Waits at ${at}: ${blockWords(kind)}. It is looked at again ${next}`
  }
  if (until <= now) return `Goes on now at ${at}.${paused}`
  const when = exactWithZone(until, zone)
  if (kind === 'delay')
    return `Waits until ${when}, then: ${after(around, currentStep, 'default')}${paused && `.${paused}`}`
  const way = edgeWords('timeout')
  return `Waits for “${event}” until ${when}, then goes the way “${way}”: ${after(around, currentStep, 'timeout')}${paused && `.${paused}`}`
}

/** `Left at “Wait 3 days” on …: they unsubscribed`; if a step ended it, says that, with the step's reason. */
function endSentence(
  { status, reason, currentStep }: Run,
  { compiled }: RunSurroundings,
  { at, on }: { at: string; on: string },
): string {
  const step = compiled.byKey.get(currentStep ?? '')?.step
  if (
    status !== 'exited' ||
    step?.type !== 'exit' ||
    reason !== (step.config.reason ?? 'exit_step')
  )
    return `${endLine(status, reason)} at ${at} on ${on}${reason === null ? '' : `: ${leavingWords(reason)}`}`
  // A step without a name has its reason as title, which need not be said twice.
  const why = step.name === undefined || step.config.reason === undefined ? '' : `: ${reason}`
  return `Ended by the step ${at} on ${on}${why}`
}

/** The step that a way leads to; without one the run ends. */
function after({ compiled, title }: RunSurroundings, key: string | null, way: string): string {
  const next = compiled.byKey.get(key ?? '')?.next.get(way)
  return next === undefined ? 'it ends' : title(next.step.key)
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
  unreadable_date: 'What stands in the field that it goes by is no day, such as 1990-02-28',
}

/** Why an event begins nothing for somebody, as a sentence without its full stop. */
export const refusalWords = (reason: string): string => refusals[reason] ?? reason
