import { counted } from '../../amounts/index.js'
import type { AutomationPreview, previewCohort } from '../../automations/index.js'
import {
  blockWords,
  endWords,
  leavingWords,
  resultWords,
  unmadeWords,
} from '../automations/result-words.js'
import { refusalWords } from '../automations/run-words.js'
import { eventWords } from '../event-words.js'
import { exactIn } from '../format.js'

/** A line of what happens to somebody, as the page tells it. */
export interface TrialLine {
  at: string
  step: string
  result: string
  why: string
  mail: { subject: string; frame: string } | undefined
  fault: string | undefined
}

/** What a trial tells: one person's way, or how many people go each way. */
export interface TrialTold {
  lines: TrialLine[] | undefined
  ends: string[]
  counts: { step: string; results: string }[] | undefined
  counted: string
  /** For how many it does not begin, and why. */
  refused: string[]
  /** What they do without anybody seeing it. */
  notSeen: string[]
}

type Called = (key: string) => string

interface TimelineWords {
  called: Called
  /** The label of a rule's field. */
  asked: (field: string) => string
  zone: string
  keep: (html: string) => string
}

/** One person's way, in words. */
export function timelineOf(
  { lines, runs, refused, cut }: AutomationPreview,
  { called, asked, zone, keep }: TimelineWords,
): Pick<TrialTold, 'lines' | 'ends'> {
  const shown = lines.map((line): TrialLine => {
    const { mail, why, event } = line
    const fault = mail !== undefined && 'fault' in mail ? mail.fault : undefined
    return {
      at: exactIn(line.at, zone),
      step: line.step === null ? '…' : called(line.step),
      result: resultWords(line.result, 'one'),
      why:
        why === undefined
          ? event === undefined
            ? ''
            : `Because ${event.name.startsWith('$') ? eventWords(event.name) : `“${event.name}” came`}.`
          : whyWords(why, asked),
      mail:
        mail !== undefined && 'html' in mail
          ? { subject: mail.subject, frame: keep(mail.html) }
          : undefined,
      fault:
        fault !== undefined
          ? `The mail cannot be made, so nothing comes after it: ${unmadeWords(fault)}`
          : line.stoppedBy === undefined
            ? undefined
            : `As things are now it would not be sent: ${stopWords(line.stoppedBy)}.`,
    }
  })
  const ends = runs.map(({ ended }) =>
    ended === null
      ? 'They are still in it a year later, or when the trial ends.'
      : `On ${exactIn(ended.at, zone)} ${endWords(ended.status, ended.status === 'failed' ? null : ended.reason, 'one')}.`,
  )
  const not = refused.map(
    ({ at, reason }) =>
      `It does not begin for them on ${exactIn(at, zone)}. ${refusalWords(reason)}.`,
  )
  return {
    lines: shown,
    ends: [...ends, ...not, ...(cut ? ['There is more; only the beginning is told.'] : [])],
  }
}

/** What a condition compared: the deciding parts, with their values. */
function whyWords(
  why: NonNullable<AutomationPreview['lines'][number]['why']>,
  asked: TimelineWords['asked'],
): string {
  const parts: string[] = []
  const gather = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return
    if (Array.isArray(one)) {
      for (const inner of one) gather(inner)
      return
    }
    const { field, actual, holds } = one as { field?: string; actual?: unknown; holds?: boolean }
    if (typeof field === 'string') {
      const fits =
        typeof actual === 'boolean' || holds === undefined
          ? ''
          : holds
            ? ', which fits'
            : ', which does not fit'
      parts.push(`${asked(field)}: ${valueWords(actual)}${fits}`)
      return
    }
    for (const inner of Object.values(one)) gather(inner)
  }
  gather(why)
  return parts.length === 0 ? '' : `Because ${parts.slice(0, 3).join('; ')}.`
}

function valueWords(value: unknown): string {
  if (value === undefined || value === null) return 'not known'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
}

/** Why a mail would not be made now, for this person or for anybody. */
const stopWords = (reason: string): string => {
  const known = blockWords(reason)
  return known === reason ? leavingWords(reason) : known
}

/** How many people go each way, in words; `order` has the keys of all steps in reading order. */
export function countsOf(
  counts: Awaited<ReturnType<typeof previewCohort>>,
  called: Called,
  order: readonly string[],
): Pick<TrialTold, 'counts' | 'counted' | 'refused' | 'ends'> {
  const numbers = (results: ReadonlyMap<string, number>) =>
    [...results].map(([result, count]) => `${count} ${resultWords(result, 'some')}`).join(', ')
  return {
    counts: order.flatMap((key) => {
      const results = counts.steps.get(key)
      return results === undefined ? [] : [{ step: called(key), results: numbers(results) }]
    }),
    counted: `${counted(counts.contacts, 'person', 'people')} looked at, 100 at most; it begins for ${counts.started} of them.`,
    refused: [...counts.refused].map(
      ([reason, count]) =>
        `Not for ${counted(count, 'person', 'people')}: ${refusalWords(reason)}.`,
    ),
    ends: [...counts.ends].map(([end, count]) => {
      const [status = '', ...reason] = end.split(':')
      return `${count} ${endWords(status, reason.join(':') || undefined, 'some')}.`
    }),
  }
}
