import {
  isOutlineStep,
  limits,
  type Outline,
  type OutlineItem,
  type OutlineStep,
  type StepType,
  stepsInOrder,
} from '../../automations/index.js'
import { edgeWords } from '../automations/words.js'
import { type Html, html } from '../shell/html.js'
import { inQuotes, isolated } from '../shell/names.js'
import { mayStand } from './deeds.js'

/** What all cards need. */
export interface CardsOptions {
  outline: Outline
  /** The place of the card that shows fields. */
  open: string
  /** The address of buttons that change the outline and save nothing. */
  change: string
  /** What people call a step, by its key. */
  called: (key: string) => string
  /** What a step does, in words. */
  says: (item: OutlineStep) => string
  faults: ReadonlyMap<string, readonly string[]>
  warnings: ReadonlyMap<string, readonly string[]>
  fields: (item: OutlineStep) => Html
}

/** What can be added, as it is offered. */
export const stepNames: Readonly<Record<Exclude<StepType, 'trigger'>, string>> = {
  send_email: 'Send a mail',
  delay: 'Wait',
  wait_for_event: 'Wait for something to happen',
  condition: 'Ask: yes or no',
  split: 'Split by chance',
  contact_update: 'Change the contact',
  webhook: 'Tell your application',
  exit: 'End here',
}

// With more steps only the open card has buttons to add, as the page would have too many bytes.
const mostWithAdd = 25

/** The outline of an automation in a form: a card for each step, with buttons that add, move, copy and remove. */
export function outlineCards(options: CardsOptions): Html {
  const { outline } = options
  const count = stepsInOrder(outline).length
  const whole = { ...options, isLong: count > mostWithAdd, room: limits.steps - count }
  return html`<div class="blocks">${count >= limits.steps && html`<p class="hint">There is no room for more than ${limits.steps} steps: remove one to add another.</p>`}${outline.map(
    (items, at) =>
      at === 0
        ? listPart(items, `${at}`, whole)
        : html`<fieldset class="column"><legend>${at === 1 ? 'Not connected' : `Not connected, ${at}`}</legend>${listPart(items, `${at}`, whole)}</fieldset>`,
  )}</div>`
}

/** `room`: how many more steps are allowed. */
type Options = CardsOptions & { isLong: boolean; room: number }

function listPart(items: readonly OutlineItem[], list: string, options: Options): Html {
  return html`${items.length === 0 && adding(`${list}.-1`, 'Begin with', options)}${items.map(
    (_, at) => cardPart(items, at, `${list}.${at}`, options),
  )}`
}

function cardPart(
  items: readonly OutlineItem[],
  at: number,
  place: string,
  options: Options,
): Html {
  const item = items[at]
  if (item === undefined) return html``
  if (!isOutlineStep(item)) return endPart(item, place, options)
  const { step, ways } = item
  const says = options.says(item)
  const title = options.called(step.key)
  const isOpen = options.open === place
  const wrong = options.faults.get(step.key) ?? []
  const doubtful = options.warnings.get(step.key) ?? []
  const anchor = isOpen ? 'open' : `block-${place}`
  return html`<fieldset class="card block" id="${anchor}" tabindex="-1"${!mayStand(items, at) && html` data-fixed`}><legend><bdi>${isolated(title)}</bdi></legend>${
    step.name !== undefined && html`<p class="quiet">${isolated(says)}</p>`
  }${wrong.map((one) => html`<p class="fault">${isolated(one)}</p>`)}${doubtful.map(
    (one) => html`<p class="hint">${isolated(one)}</p>`,
  )}${moves(items, at, { place, title, isOpen, options })}${isOpen && options.fields(item)}${ways.map(
    (way, n) =>
      html`<fieldset class="column"><legend>${wayTitle(way.type, way.branch)}</legend>${
        way.items.length === 0 &&
        html`<p class="quiet">${items.length > at + 1 ? 'Goes on below.' : 'Goes on, or ends here.'}</p>`
      }${listPart(way.items, `${place}.${n}`, options)}</fieldset>`,
  )}</fieldset>${step.type !== 'exit' && (!options.isLong || isOpen) && adding(place, 'Then', options, title)}`
}

const wayTitle = (type: string, branch: string | undefined): string => {
  if (branch !== undefined) return `Way ${branch}`
  return `If ${edgeWords(type) ?? 'then'}`
}

function endPart(item: { to: string } | { end: true }, place: string, options: Options): Html {
  if ('end' in item) return html`<p class="quiet">Ends here.</p>`
  return html`<p>Goes on at ${isolated(inQuotes(options.called(item.to)))}. ${button('gone', place, 'Remove', 'this link', options.change)}</p>`
}

function moves(
  items: readonly OutlineItem[],
  at: number,
  {
    place,
    title,
    isOpen,
    options,
  }: { place: string; title: string; isOpen: boolean; options: Options },
): Html {
  const item = items[at]
  const isTrigger = isOutlineStep(item) && item.step.type === 'trigger'
  const { change } = options
  const hasWays = isOutlineStep(item) && item.ways.some((way) => way.items.length > 0)
  return html`<p class="buttons">${
    isOpen
      ? button('close', place, 'Done', title, change)
      : button('open', place, 'Change', title, change, 'open')
  }${!isTrigger && mayStand(items, at) && mayStand(items, at - 1) && button('up', place, 'Up', title, change, 'open')}${
    !isTrigger &&
    mayStand(items, at) &&
    mayStand(items, at + 1) &&
    button('down', place, 'Down', title, change, 'open')
  }${!isTrigger && isOutlineStep(item) && stepsInOrder([[item]]).length <= options.room && button('copy', place, 'Duplicate', title, change, 'open')}${
    !isTrigger && button('gone', place, hasWays ? 'Remove with its ways' : 'Remove', title, change)
  }</p>`
}

const button = (
  deed: string,
  place: string,
  label: string,
  name: string,
  change: string,
  // A moved or copied card is open afterwards, wherever it stands.
  anchor = `block-${place}`,
): Html =>
  html`<button name="do" value="${deed}:${place}" formaction="${change}#${anchor}" formnovalidate aria-label="${label}: ${name}">${label}</button>`

/** The buttons that add a step below a card, or at the beginning of a way. */
function adding(place: string, says: string, { change, room }: Options, after?: string): Html {
  const id = `kind-${place}`
  if (room <= 0) return html``
  const where = after === undefined ? ' at the beginning' : ` after ${after}`
  return html`<p class="buttons add"><label for="${id}">${says}<span class="hidden">${where}</span></label><select id="${id}" name="kind.${place}">${Object.entries(
    stepNames,
  ).map(
    ([type, name]) => html`<option value="${type}">${name}</option>`,
  )}</select><button name="do" value="add:${place}" formaction="${change}#open" formnovalidate>Add<span class="hidden">${where}</span></button></p>`
}
