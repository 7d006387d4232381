import { array, optional, string, type } from 'superstruct'
import * as operations from '../../automations/contract.js'
import {
  type AutomationDefinition,
  type DateSurvey,
  dateFieldOf,
  dateRuleOf,
  previewAutomation,
  previewCohort,
  readWritten,
  seenEvents,
  surveyDates,
} from '../../automations/index.js'
import { dayMs, isoTime, timeOfLocal } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import { check, structOf, table } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { afterMs } from '../../rules/index.js'
import { eventFields } from '../automations/event-fields.js'
import { crowdChoices, crowdIn } from '../automations/start.js'
import { wordBook } from '../automations/word-book.js'
import { fieldWords, stepWords } from '../automations/words.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationEditDeps } from './deps.js'
import { durationOf, unitChoices } from './durations.js'
import { typedOrKept, writable } from './edit.js'
import { datedWords, unreadableWords } from './survey-words.js'
import { callerOf, countsOf, type TrialTold, timelineOf } from './trial-words.js'
import { definitionOf } from './typed.js'
import { unseenOpens } from './unseen-opens.js'

interface SimulateView extends TrialTold {
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
  /** The field by whose day it begins. */
  dateField: string | undefined
  date: string
  /** Who has a day in that field, and who has something else there. */
  dated: string[]
  happenings: { event: string; after: string; unit: string }[]
  opened: string[]
  clicked: string[]
  sends: { value: string; label: string }[]
  /** Which mails' opens it asks for that nobody can see. */
  unseen: string[]
  /** How many may be typed. */
  mostEvents: number
  events: string[]
  units: { value: string; label: string }[]
  faults: Faults
}

/** Who walks through it, and what happens meanwhile. */
const SimulateForm = type({
  email: optional(string()),
  whom: optional(string()),
  at: optional(string()),
  payload: optional(string()),
  date: optional(string()),
  event: array(string()),
  after: array(string()),
  unit: array(string()),
  opened: array(string()),
  clicked: array(string()),
  go: optional(string()),
})

const maxBodyBytes = 1024 * 1024
// More than anybody types by hand.
const mostEvents = 20

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
  const rule = dateRuleOf(definition)
  const told = { lines: undefined, ends: [], counts: undefined, counted: '', refused: [] }
  const result: TrialTold = !isAsked
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
    dateField: rule && dateFieldOf(rule.date),
    dated: rule === undefined ? [] : datedLines(await surveyDates(read, account.id, rule)),
    date: fields.get('date') ?? '',
    happenings: happeningsTyped(fields),
    opened: fields.all('opened'),
    clicked: fields.all('clicked'),
    unseen: await unseenOpens(deps, account.id, definition, book),
    sends: definition.steps
      .filter(({ type }) => type === 'send_email')
      .map(({ key }) => ({ value: key, label: called(key) })),
    mostEvents,
    events: (await seenEvents(read, account.id)).map(({ name }) => name),
    units: unitChoices,
    ...result,
    faults,
  }
  return page('automation-edit/simulate', view, { title: `Try “${typed.name}”` })
}

const datedLines = (survey: DateSurvey): string[] => [
  datedWords(survey),
  ...[unreadableWords(survey)].filter((one) => one !== undefined),
]

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
  const date = (fields.get('date') ?? '').trim()
  const given = { ...(payload === '' ? {} : payloadIn(payload)), ...(date !== '' && { date }) }
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

/** The events that were typed, and room for one more. */
function happeningsTyped(fields: Form): SimulateView['happenings'] {
  const [after, unit] = [fields.all('after'), fields.all('unit')]
  const typed = fields.all('event').map((event, at) => ({
    event,
    after: after[at] ?? '',
    unit: unit[at] ?? 'D',
  }))
  const some = typed.filter(({ event }) => event.trim() !== '')
  return [...some, { event: '', after: '', unit: 'D' }].slice(0, mostEvents)
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

function payloadIn(typed: string) {
  const fields = eventFields(typed)
  if (fields !== undefined) return fields
  throw new ApiError('validation_error', 'payload: Write a line each, such as: total = 5')
}
