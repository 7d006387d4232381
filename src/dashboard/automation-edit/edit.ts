import {
  automationWarnings,
  changedSince,
  limits,
  type OutlineStep,
  type StepDefinition,
  seenEvents,
  stepsBefore,
  stepsInOrder,
} from '../../automations/index.js'
import { readBilling } from '../../billing/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { wordBook } from '../automations/word-book.js'
import { fieldWords, ruleWords, stepWords, titleOf, titlesApart } from '../automations/words.js'
import { type PageAnswer, type PageLook, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import type { Faults } from '../shell/faults.js'
import { type Html, html } from '../shell/html.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { outlineCards } from './cards.js'
import { itemAt } from './deeds.js'
import type { AutomationEditDeps } from './deps.js'
import { byStep, movedWords, nameFaults, stateWords, targetsOf } from './edit-words.js'
import { faultList } from './fault-list.js'
import { faultWords } from './fault-words.js'
import { faultsNow } from './faults-now.js'
import { mailPreview } from './mail-preview.js'
import { settingsPart, settingsWords } from './settings-part.js'
import { asWait, heardAt } from './settings-rules.js'
import { stepChoices } from './step-choices.js'
import { stepFields } from './step-fields.js'
import { definitionOf } from './typed.js'
import { unknownDate } from './unknown-date.js'
import { tooSoonWords } from './unready-words.js'
import { unseenAsked } from './unseen-words.js'
import { typedOrKept, writable } from './written.js'

export interface EditAutomationView {
  page: string
  id: string
  title: string
  name: string
  revision: string
  /** The outline, as the form sends it along. */
  outline: string
  open: string
  cards: Html
  settings: Html
  /** How many steps there are, and how many there may be. */
  room: string
  state: { says: string; isDraft: boolean }
  /** What is said where somebody else saved first. */
  theirs: string
  nameFaults: Faults
  /** The new place of the step that was just moved. */
  moved: string
  same: SameBy
  /** Doubts that concern no single step. */
  doubtful: string[]
  /** What prevents enabling it, each with a link to its step. */
  wrong: Html
  isConflict: boolean
}

/** The editor of an automation, with the last typed state. */
export async function showEdit(
  deps: AutomationEditDeps,
  visit: Visit,
  told: Faults,
  /** The revision of what was just saved. */
  revision?: string,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base } = visit
  const automation = await writable(read, visit)
  const typed = await typedOrKept(deps, visit, automation)
  const { outline, open, settings } = typed
  const definition = definitionOf(typed)
  const billing = await readBilling(read, deps.plans, account.id)
  const { faults, unwritten, isSound } = await faultsNow(deps, billing, definition)
  const found = [...faults, ...unwritten]
  const item = itemAt(outline, open)
  const heard = heardAt(settings, open)
  const ofSettings = heard && asWait(heard)
  const step = item !== undefined && 'step' in item ? item.step : ofSettings
  const steps = stepsInOrder(outline)
  const book = await wordBook(read, account.id, [definition])
  const doubtfulDate = await unknownDate(read, account.id, definition)
  // It stands beside its field, where that is shown.
  const isDateShown = doubtfulDate !== undefined && step?.key === doubtfulDate.key
  const warned = [
    ...(doubtfulDate === undefined || isDateShown ? [] : [doubtfulDate]),
    ...(isSound ? await automationWarnings(read, account.id, definition) : []),
    ...(await unseenAsked(deps, account.id, definition)),
    ...tooSoonWords(definition),
  ]
  const choices = await stepChoices(read, account.id, {
    step,
    steps,
    before: stepsBefore(definition).get(step?.key ?? ''),
    events: await seenEvents(read, account.id),
    asked: (path) => fieldWords(path, book, definition),
  })
  const here = `${base}/automations/${automation.id}`
  const change = `${here}/edit/draft`
  const domains = (await verifiedDomains(read, account.id)).join(', ')
  const preview =
    step?.type === 'send_email'
      ? await mailPreview(
          deps,
          { accountId: account.id, base, automationId: automation.id },
          step.config,
        )
      : undefined
  const called = titleOf(definition, book)
  const says = (one: OutlineStep) => stepWords(one.step, book, definition)
  const cards = outlineCards({
    outline,
    open,
    change,
    called,
    says,
    faults: byStep(found, called),
    warnings: byStep(warned, called),
    fields: (one) =>
      html`<div id="fields">${nameFields(one.step)}${stepFields(one.step, { choices, change, preview, domains, base, unknownDate: doubtfulDate?.error })}</div>`,
  })
  const isConflict = told.message === changedSince
  const view: EditAutomationView = {
    page: here,
    id: automation.id,
    title: `Write “${automation.name}”`,
    name: typed.name,
    revision: revision ?? typed.revision,
    outline: JSON.stringify({ lists: outline, settings }),
    open,
    cards,
    settings: settingsPart({
      settings,
      open,
      change,
      targets: targetsOf(steps, titlesApart(definition, book)),
      says: settingsWords(settings),
      asks: (rule) => ruleWords(rule, book, definition),
      choices,
    }),
    room: `${steps.length} of at most ${limits.steps} steps`,
    state: stateWords(automation, typed.isDraft, found.length === 0),
    theirs,
    nameFaults: nameFaults(typed.name),
    moved: movedWords(visit.fields.get('do') ?? '', { outline, open, called }),
    same: {
      api: [
        call(api.automations.getDraft, { of: { id: automation.id } }),
        call(api.automations.updateDraft, { of: { id: automation.id } }),
      ],
      cli: [command('automation draft', { of: [automation.id] })],
    },
    wrong: faultList(found, { outline, open, called, base, automationId: automation.id }),
    doubtful: warned.filter(({ key }) => key === null).map((one) => faultWords(one, called)),
    isConflict,
  }
  const look: PageLook = { title: view.title, steps: true }
  const said = isConflict ? { faults: Object.assign({}, told, { message: theirs }) } : {}
  return page('automation-edit/edit', view, Object.assign(look, said))
}

const theirs =
  'Somebody else has changed this automation since you opened it. What you typed is still here, and is not kept. Save yours in its place, and what they changed is gone; or take theirs, and what you typed is gone'

/** The name, and the key where somebody asks for it. */
const nameFields = (step: StepDefinition): Html =>
  html`<input type="hidden" name="s.key" value="${step.key}"><div class="field"><label for="step-name">Name <span class="quiet">(optional)</span></label><p class="hint" id="step-name-hint">Only your team sees it; one line of 100 characters at most. Empty: what the step does.</p><input type="text" id="step-name" name="s.name" value="${step.name ?? ''}" maxlength="100" aria-describedby="step-name-hint"></div><details><summary>For the API</summary><p>Its key is <code>${step.key}</code>: rules and reports know the step by it.</p></details>`
