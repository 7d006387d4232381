import { array, optional, string, type } from 'superstruct'
import { counted } from '../../amounts/index.js'
import * as operations from '../../automations/contract.js'
import {
  type AutomationDefinition,
  type AutomationPreview,
  previewAutomation,
  previewCohort,
  readWritten,
  seenEvents,
} from '../../automations/index.js'
import { dayMs, isoTime, timeOfLocal } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import { check, structOf, table } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { jsonObjectIn } from '../../json/index.js'
import { afterMs } from '../../rules/index.js'
import { blockWords, refusalWords } from '../automations/run-words.js'
import { crowdChoices, crowdIn } from '../automations/start.js'
import { wordBook } from '../automations/word-book.js'
import { fieldWords, stepWords } from '../automations/words.js'
import { exactIn } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationEditDeps } from './deps.js'
import { durationOf, unitChoices } from './durations.js'
import { typedOrKept, writable } from './edit.js'
import { reasonWords, resultWords } from './result-words.js'
import { definitionOf } from './typed.js'

interface SimulateView {
  page: string
  id: string
  name: string
  zone: string
  /** Whether they may write it, too. */
  mayWrite: boolean
  /** What is being written, so that the way back loses nothing; undefined where that is what is kept. */
  written: { outline: string; name: string; revision: string } | undefined
  email: string
  crowds: { value: string; label: string }[]
  whom: string
  at: string
  payload: string
  happenings: { event: string; after: string; unit: string }[]
  opened: string[]
  clicked: string[]
  sends: { value: string; label: string }[]
  events: string[]
  units: { value: string; label: string }[]
  lines: TimelineLine[] | undefined
  ends: string[]
  counts: { step: string; results: string }[] | undefined
  counted: string
  faults: Faults
}

interface TimelineLine {
  at: string
  step: string
  result: string
  why: string
  mail: { subject: string; frame: string } | undefined
  fault: string | undefined
}

/** Who walks through it, and what happens meanwhile. */
const SimulateForm = type({
  email: optional(string()),
  whom: optional(string()),
  at: optional(string()),
  payload: optional(string()),
  event: array(string()),
  after: array(string()),
  unit: array(string()),
  opened: array(string()),
  clicked: array(string()),
  go: optional(string()),
})

const maxBodyBytes = 1024 * 1024
const rowsOfEvents = 4

/** What an automation would do for somebody, as it is written now, saved or not. */
export function simulatePages(pages: AccountPages, deps: AutomationEditDeps): void {
  // As by the API: who may read an automation may try it, which changes nothing.
  const action = 'automations.read' as const
  const show = (visit: Visit, faults: Faults) => showSimulation(deps, visit, faults)
  pages.get('/automations/:id/simulate', action, (visit) => show(visit, noFaults))
  const trying = { action, form: SimulateForm, reads: true, maxBodyBytes, again: show } as const
  pages.post('/automations/:id/simulate', trying, (visit) =>
    showSimulation(
      deps,
      { ...visit, form: undefined },
      noFaults,
      visit.fields.get('go') !== undefined,
    ),
  )
}

async function showSimulation(
  deps: AutomationEditDeps,
  visit: Visit,
  faults: Faults,
  isAsked = false,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, fields, person, now } = visit
  const found = await writable(read, visit)
  const isWritten = fields.get('outline') !== undefined
  const typed = await typedOrKept(deps, visit, found)
  const definition = isWritten ? definitionOf(typed) : (await readWritten(read, found)).definition
  const book = await wordBook(read, account.id, [definition])
  const called = callerOf(definition, (step) => stepWords(step, book, definition))
  const zone = person.timeZone ?? definition.settings?.timeZone ?? 'UTC'
  const whom = fields.get('whom') ?? ''
  const told = { lines: undefined, ends: [], counts: undefined, counted: '' }
  const result: Pick<SimulateView, 'lines' | 'ends' | 'counts' | 'counted'> = !isAsked
    ? told
    : whom !== ''
      ? {
          ...told,
          ...countsOf(
            await previewCohort(
              deps,
              account.id,
              found.id,
              crowdIn(whom),
              worldIn(fields, definition, { zone, now }),
            ),
            called,
          ),
        }
      : {
          ...told,
          ...timelineOf(
            await previewAutomation(deps, account.id, found.id, {
              ...worldIn(fields, definition, { zone, now }),
              email: checkedEmail(fields.get('email') ?? ''),
            }),
            {
              called,
              asked: (field) => fieldWords(field, book, definition),
              zone,
              keep: (html) => `${base}/automations/mail/${deps.rendered.keep(account.id, html)}`,
            },
          ),
        }
  const view: SimulateView = {
    page: `${base}/automations/${found.id}`,
    id: found.id,
    name: typed.name,
    zone,
    mayWrite: visit.may('automations.write'),
    written: isWritten
      ? {
          outline: JSON.stringify({ lists: typed.outline, settings: typed.settings }),
          name: typed.name,
          revision: typed.revision,
        }
      : undefined,
    email: fields.get('email') ?? person.email,
    crowds: await crowdChoices(read, account.id),
    whom,
    at: fields.get('at') ?? '',
    payload: fields.get('payload') ?? '',
    happenings: Array.from({ length: rowsOfEvents }, (_, at) => ({
      event: fields.all('event')[at] ?? '',
      after: fields.all('after')[at] ?? '',
      unit: fields.all('unit')[at] ?? 'D',
    })),
    opened: fields.all('opened'),
    clicked: fields.all('clicked'),
    sends: definition.steps
      .filter(({ type }) => type === 'send_email')
      .map(({ key }) => ({ value: key, label: called(key) })),
    events: (await seenEvents(read, account.id)).map(({ name }) => name),
    units: unitChoices,
    ...result,
    faults,
  }
  return page('automation-edit/simulate', view, { title: `Try “${typed.name}”` })
}

const Email = structOf(table({ email: operations.simulatedAddress }))

/** The address as it was typed; throws a `ShapeError` beside its field. */
const checkedEmail = (typed: string): string => check({ email: typed.trim() }, Email).email

// Mails are opened an hour after they came: when exactly matters to nobody who ticks it.
const openedAfter = 'PT1H'

/** What the form says of the world; throws a 400 that names the field. */
function worldIn(
  fields: Form,
  { steps, connections, settings }: AutomationDefinition,
  { zone, now }: { zone: string; now: number },
) {
  const started = beginningIn(fields.get('at') ?? '', { zone, now })
  const payload = (fields.get('payload') ?? '').trim()
  const given = payload === '' ? {} : payloadIn(payload)
  const afters = (name: string) =>
    Object.fromEntries(fields.all(name).map((key) => [key, openedAfter]))
  return {
    steps,
    connections,
    ...(settings !== undefined && { settings }),
    ...(started !== undefined && { at: isoTime(started) }),
    payload: given,
    events: happeningsIn(fields),
    opens: Object.assign(afters('clicked'), afters('opened')),
    clicks: afters('clicked'),
  }
}

// Further away nobody plans, and a year such as 0002 is a slip of the hand.
const mostYears = 10

/** When it begins, as it was typed; undefined for now. */
function beginningIn(typed: string, { zone, now }: { zone: string; now: number }) {
  if (typed === '') return undefined
  const at = timeOfLocal(typed, zone)
  if (at !== undefined && Math.abs(at - now) <= mostYears * 366 * dayMs) return at
  throw new ApiError(
    'validation_error',
    `at: Choose a day and a time at most ${mostYears} years from now, or leave it empty`,
  )
}

/** What else they do, and how long after the beginning. */
function happeningsIn(fields: Form) {
  const [after, unit] = [fields.all('after'), fields.all('unit')]
  return fields.all('event').flatMap((typed, n) => {
    const event = typed.trim()
    if (event === '') return []
    const amount = after[n]?.trim() || '0'
    const duration = durationOf({ amount, unit: unit[n] ?? 'D' })
    if (/^\d+$/.test(amount) && afterMs(duration) !== undefined) return [{ event, after: duration }]
    throw new ApiError(
      'validation_error',
      `What else they do, event ${n + 1}: “${amount}” is not how long after the beginning it comes. Write a whole number, such as 2`,
    )
  })
}

/** `total = 5` a line, or JSON as programs write it. */
function payloadIn(typed: string) {
  const json = typed.startsWith('{') ? jsonObjectIn(typed) : undefined
  if (json !== undefined) return json
  const lines = typed.split('\n').map((line) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(line))
  if (lines.some((line) => line === null)) {
    throw new ApiError('validation_error', 'payload: Write a line each, such as: total = 5')
  }
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = line ?? []
      return [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value]
    }),
  )
}

type Called = (key: string) => string

const callerOf =
  (
    { steps }: AutomationDefinition,
    words: (step: AutomationDefinition['steps'][number]) => string,
  ): Called =>
  (key) => {
    const step = steps.find((one) => one.key === key)
    return step === undefined ? key : (step.name ?? words(step))
  }

interface TimelineWords {
  called: Called
  /** What the field of a rule is called. */
  asked: (field: string) => string
  zone: string
  keep: (html: string) => string
}

function timelineOf(
  { lines, runs, refused, cut }: AutomationPreview,
  { called, asked, zone, keep }: TimelineWords,
): Pick<SimulateView, 'lines' | 'ends'> {
  const shown = lines.map((line): TimelineLine => {
    const { mail, why, event } = line
    const fault = mail !== undefined && 'fault' in mail ? mail.fault : undefined
    return {
      at: exactIn(line.at, zone),
      step: line.step === null ? '…' : called(line.step),
      result: resultWords(line.result),
      why:
        why === undefined
          ? event === undefined
            ? ''
            : `Because “${event.name}” came.`
          : whyWords(why, asked),
      mail:
        mail !== undefined && 'html' in mail
          ? { subject: mail.subject, frame: keep(mail.html) }
          : undefined,
      fault:
        fault ??
        (line.stoppedBy === undefined
          ? undefined
          : `As things are now it would not be sent: ${stopWords(line.stoppedBy)}.`),
    }
  })
  const ends = runs.map(({ ended }) =>
    ended === null
      ? 'They are still in it a year later, or when the trial ends.'
      : `On ${exactIn(ended.at, zone)} ${resultWords(ended.status)}${ended.reason === null ? '' : `: ${reasonWords(ended.reason)}`}.`,
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

/** What a condition compared: the parts that decided, as they were. */
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

/** Why a mail would not be made now, for somebody or for anybody. */
const stopWords = (reason: string): string => {
  const known = blockWords(reason)
  return known === reason ? reasonWords(reason) : known
}

function countsOf(
  counts: Awaited<ReturnType<typeof previewCohort>>,
  called: Called,
): Pick<SimulateView, 'counts' | 'counted' | 'ends'> {
  const numbers = (results: ReadonlyMap<string, number>) =>
    [...results].map(([result, count]) => `${count} ${resultWords(result, 'some')}`).join(', ')
  return {
    counts: [...counts.steps].map(([key, results]) => ({
      step: called(key),
      results: numbers(results),
    })),
    counted: `${counted(counts.contacts, 'person', 'people')} looked at, 100 at most; it begins for ${counts.started} of them.`,
    ends: [...counts.ends].map(([end, count]) => {
      const [status = '', reason] = end.split(':')
      return `${count} ${resultWords(status, 'some')}${reason === undefined ? '' : `: ${reasonWords(reason)}`}.`
    }),
  }
}
