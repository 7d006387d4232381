import { array, optional, string, type } from 'superstruct'
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
  type UnseenDeed,
} from '../../automations/index.js'
import type { Form } from '../../http/index.js'
import { flowGraph } from '../automations/graph.js'
import { crowdChoices, crowdIn } from '../automations/start.js'
import { wordBook } from '../automations/word-book.js'
import { fieldWords, titlesApart, type WordBook } from '../automations/words.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationEditDeps } from './deps.js'
import { type TypedDuration, unitChoices } from './durations.js'
import { makeArriving } from './mail-preview.js'
import { refusedInWords } from './refusal-words.js'
import { datedWords, unreadableWords } from './survey-words.js'
import { checkedEmail, happeningsTyped, mostEvents, typedAfter, worldIn } from './trial-asked.js'
import { countsOf, type TrialTold, timelineOf } from './trial-words.js'
import { definitionOf, refuseUnreadable } from './typed.js'
import { unseenInTrial, unseenWords } from './unseen-words.js'
import { typedOrKept, writable } from './written.js'

interface SimulateView extends TrialTold {
  page: string
  id: string
  name: string
  zone: string
  /** Whether they may also write it. */
  mayWrite: boolean
  /** The unsaved state, so that the way back loses nothing; undefined where everything is saved. */
  written: { outline: string; name: string; revision: string } | undefined
  email: string
  crowds: { value: string; label: string }[]
  whom: string
  at: string
  payload: string
  /** The field by whose day it begins. */
  dateField: string | undefined
  date: string
  /** How many have a day in that field, and how many something else. */
  dated: string[]
  happenings: { event: string; after: string; unit: string }[]
  opened: string[]
  clicked: string[]
  /** How long after a mail came they open it, and click in it. */
  opens: TypedDuration
  clicks: TypedDuration
  sends: { value: string; label: string }[]
  /** The mails whose opens or clicks it asks for and nobody can see. */
  unseen: string[]
  /** How many events may be typed. */
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
  openedAfter: optional(string()),
  openedUnit: optional(string()),
  clickedAfter: optional(string()),
  clickedUnit: optional(string()),
  go: optional(string()),
})

const maxBodyBytes = 1024 * 1024
/** What an automation would do for somebody, as it is now written, saved or not. */
export function simulatePages(pages: AccountPages, deps: AutomationEditDeps): void {
  // As in the API: whoever may read an automation may try it, which changes nothing.
  const action = 'automations.read' as const
  const show = (visit: Visit, faults: Faults) => showSimulation(deps, visit, faults)
  pages.get('/automations/:id/simulate', action, (visit) => show(visit, noFaults))
  const trying = { action, form: SimulateForm, reads: true, maxBodyBytes, again: show } as const
  pages.post('/automations/:id/simulate', trying, async (visit) => {
    const { fields } = visit
    refuseUnreadable(fields)
    const isAsked = fields.get('go') !== undefined
    return await showSimulation(deps, { ...visit, form: undefined }, noFaults, isAsked)
  })
}

async function showSimulation(
  deps: AutomationEditDeps,
  visit: Visit,
  faults: Faults,
  isAsked = false,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, fields, person } = visit
  const found = await writable(read, visit)
  const isWritten = fields.get('outline') !== undefined
  const typed = await typedOrKept(deps, visit, found)
  const definition = isWritten ? definitionOf(typed) : (await readWritten(read, found)).definition
  const book = await wordBook(read, account.id, [definition])
  const called = titlesApart(definition, book)
  const { steps } = flowGraph(definition)
  const zone = person.timeZone ?? definition.settings?.timeZone ?? 'UTC'
  const rule = dateRuleOf(definition)
  const result = isAsked
    ? await refusedInWords('It cannot be tried as it is.', { definition, book }, () =>
        tried(deps, visit, found.id, { definition, book, zone }),
      )
    : nothingTold
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
    whom: fields.get('whom') ?? '',
    at: fields.get('at') ?? '',
    payload: fields.get('payload') ?? '',
    dateField: rule && dateFieldOf(rule.date),
    dated: rule === undefined ? [] : datedLines(await surveyDates(read, account.id, rule)),
    date: fields.get('date') ?? '',
    happenings: happeningsTyped(fields),
    opened: fields.all('opened'),
    clicked: fields.all('clicked'),
    unseen: await unseenWords(deps, account.id, definition, book),
    opens: typedAfter(fields, 'opened'),
    clicks: typedAfter(fields, 'clicked'),
    sends: steps
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

const nothingTold: TrialTold = {
  lines: undefined,
  ends: [],
  counts: undefined,
  counted: '',
  refused: [],
  notSeen: [],
}

/** What happens to the one person that the form names, or to those of its list or segment. */
async function tried(
  deps: AutomationEditDeps,
  { account, base, fields, now }: Visit,
  id: string,
  { definition, book, zone }: { definition: AutomationDefinition; book: WordBook; zone: string },
): Promise<TrialTold> {
  const called = titlesApart(definition, book)
  const world = worldIn(fields, definition, { zone, now })
  const whom = fields.get('whom') ?? ''
  if (whom !== '') {
    const order = flowGraph(definition).steps.map(({ key }) => key)
    const counts = await previewCohort(deps, account.id, id, crowdIn(whom), world)
    const notSeen = unseenInTrial(asSaid(counts.unseen, fields), called)
    return { ...nothingTold, ...countsOf(counts, called, order), notSeen }
  }
  const email = checkedEmail(fields.get('email') ?? '')
  const arriving = makeArriving(deps, account.id, { address: email })
  const asked = { ...world, email }
  const preview = await previewAutomation({ ...deps, arriving }, account.id, id, asked)
  const notSeen = unseenInTrial(asSaid(preview.unseen, fields), called)
  const words = {
    called,
    asked: (field: string) => fieldWords(field, book, definition),
    zone,
    keep: (html: string) => `${base}/automations/mail/${deps.rendered.keep(account.id, html)}`,
  }
  return { ...nothingTold, ...timelineOf(preview, words), notSeen }
}

/** A click implies an open. That nobody sees a deed is told only to people who said that it happens. */
function asSaid(unseen: readonly UnseenDeed[], fields: Form): UnseenDeed[] {
  const opened = fields.all('opened')
  return unseen.filter(({ deed, step }) => deed !== 'opened' || opened.includes(step))
}

const datedLines = (survey: DateSurvey): string[] => [
  datedWords(survey),
  ...[unreadableWords(survey)].filter((one) => one !== undefined),
]
