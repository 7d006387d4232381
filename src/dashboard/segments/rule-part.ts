import { ruleLimits } from '../../segments/index.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { FieldChoice } from './choices.js'
import { fittingOperators } from './fitting.js'
import { operatorWords, type RuleSentence } from './sentence.js'

/** A rule in a form: its conditions, and what its buttons do. */
interface RulePart {
  sentence: RuleSentence
  /** The fields that each condition offers. */
  choices: readonly FieldChoice[][]
  /** Some conditions offer fewer fields than there are. */
  isShort: boolean
  mayAdd: boolean
  /** Where a button leads that changes the form and saves nothing. */
  action: string
  /** What the values of these buttons begin with, where the form has others. */
  prefix?: string
  /** Before the choice of all or any: `People for whom`. */
  says: string
}

const modes = [
  { value: 'all', label: 'all of this holds' },
  { value: 'any', label: 'any of this holds' },
]
const operators = Object.entries(operatorWords).map(([value, label]) => ({ value, label }))

/** The sentence of a rule as fields, which `sentenceIn` reads and `changed` changes. */
export function rulePart(part: RulePart): Html {
  const { sentence, isShort, says } = part
  const groups = [0, ...sentence.modes.map((_, at) => at + 1)]
  const mode = field({
    name: 'mode',
    label: says,
    type: 'select',
    options: modes,
    value: sentence.mode,
  })
  return html`${mode}${groups.map((group) => groupPart(part, group))}${html`<p class="quiet">${sentence.rows.length} of at most ${ruleLimits.conditions} conditions; a value has at most ${ruleLimits.text} characters.</p>`}${
    isShort &&
    html`<p class="quiet">Only the last condition offers all fields. To ask for another one, add a condition and remove the old one.</p>`
  }`
}

function groupPart(part: RulePart, group: number): Html {
  const { sentence, mayAdd } = part
  const mode =
    group > 0 &&
    field({
      name: 'modes',
      id: `modes-${group}`,
      label: 'For whom',
      type: 'select',
      options: modes,
      value: sentence.modes[group - 1],
    })
  const rows = [...sentence.rows.entries()].filter(([, row]) => row.group === group)
  return html`<fieldset class="tools"><legend>${group === 0 ? 'Conditions' : `Group ${group}`}</legend>${mode}${rows.map(
    ([at]) => rowPart(part, at),
  )}${mayAdd && adding(part, group)}</fieldset>`
}

function rowPart(part: RulePart, at: number): Html {
  const { sentence, choices } = part
  const row = sentence.rows[at]
  const what = field({
    name: 'field',
    id: `what-${at}`,
    label: 'What',
    type: 'select',
    options: choices[at] ?? [],
    value: row?.field,
  })
  const how = field({
    name: 'operator',
    id: `how-${at}`,
    label: 'How',
    type: 'select',
    options: row === undefined ? operators : fittingOperators(row, operators),
    value: row?.operator,
  })
  const than = field({
    name: 'value',
    id: `than-${at}`,
    label: 'Value, such as Lagos, 3 or 30 days',
    value: row?.value,
    maxlength: ruleLimits.text,
    autocomplete: 'off',
  })
  return html`<div class="tools" role="group" aria-label="Condition ${at + 1}"><input type="hidden" name="group" value="${row?.group ?? 0}">${what}${how}${than}<p class="buttons">${button(
    part,
    `remove.${at}`,
    html`Remove<span class="hidden"> condition ${at + 1}</span>`,
  )}</p></div>`
}

const adding = (part: RulePart, group: number): Html =>
  html`<p class="buttons">${button(
    part,
    `add.${group}`,
    html`Add a condition${group > 0 && html`<span class="hidden"> to group ${group}</span>`}`,
  )}${group === 0 && html` ${button(part, 'group', html`Add a group`)}`}</p>`

const button = ({ action, prefix = '' }: RulePart, wish: string, says: Html): Html =>
  html`<button name="do" value="${prefix}${wish}" formaction="${action}" formnovalidate>${says}</button>`
