import { ruleLimits } from '../../segments/index.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { FieldChoice } from './choices.js'
import type { KindOf } from './condition.js'
import { conditionPart } from './condition-part.js'
import { choicesOfRows } from './room.js'
import { mayHaveGroups, placeAfter } from './sent-rule.js'
import { groupsIn, type RuleSentence } from './sentence.js'

/** A rule in a form: its conditions, and what its buttons do. */
interface RulePart {
  sentence: RuleSentence
  /** The fields that a condition may be about, and what is known of their values. */
  choices: readonly FieldChoice[]
  /** What fields hold that are not among them, or of which they do not say it. */
  kindOf: KindOf
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

/** What fields hold, as the choices of a form say it, else as their language does. */
export function kindsOf(choices: readonly FieldChoice[], kindOf: KindOf): KindOf {
  const known = new Map(choices.map(({ value, kind }) => [value, kind]))
  return (path) => known.get(path) ?? kindOf(path)
}

/** The sentence of a rule as fields, which `sentenceIn` reads and `changed` changes. */
export function rulePart(part: RulePart): Html {
  const { sentence, choices, says } = part
  const offered = choicesOfRows(choices, sentence.rows)
  const isShort = offered.some((some) => some.length < choices.length)
  // Of no condition there is nothing to choose.
  const mode =
    sentence.rows.length === 0
      ? html`<input type="hidden" name="mode" value="${sentence.mode}"><p><b>${says}</b> <span class="quiet">No condition yet.</span></p>`
      : field({
          name: 'mode',
          label: says,
          type: 'select',
          options: modes,
          value: sentence.mode,
        })
  const made: Making = {
    ...part,
    offered,
    kindOf: kindsOf(choices, part.kindOf),
    values: valuesOf(part),
    mayAdd: sentence.rows.length < ruleLimits.conditions,
  }
  return html`${mode}${groupPart(made, 0)}<p class="quiet">${sentence.rows.length} of at most ${ruleLimits.conditions} conditions; a value has at most ${ruleLimits.text} characters.</p>${
    isShort &&
    html`<p class="quiet">Only the last condition offers all fields. To ask for another one, add a condition and remove the old one.</p>`
  }${[...made.values].map(
    ([field, id]) =>
      html`<datalist id="${id}">${(choices.find(({ value }) => value === field)?.values ?? []).map(
        (value) => html`<option value="${value}"></option>`,
      )}</datalist>`,
  )}`
}

interface Making extends RulePart {
  offered: readonly FieldChoice[][]
  /** The ids of the lists of values, by the field. */
  values: ReadonlyMap<string, string>
  mayAdd: boolean
}

/** The lists of values that the conditions of a form offer; each is in the page once. */
function valuesOf({ sentence, choices }: RulePart): Map<string, string> {
  const asked = new Set(sentence.rows.map(({ field }) => field))
  const some = choices.filter(({ value, values = [] }) => asked.has(value) && values.length > 0)
  return new Map(some.map(({ value }, at) => [value, `values-${at}`]))
}

function groupPart(part: Making, group: number): Html {
  const { sentence, mayAdd } = part
  const { rows, parents } = sentence
  const inGroup = group > 0 && [
    html`<input type="hidden" name="parents" value="${parents[group - 1] ?? 0}">`,
    field({
      name: 'modes',
      id: `modes-${group}`,
      label: 'For whom',
      type: 'select',
      options: modes,
      value: sentence.modes[group - 1],
    }),
  ]
  const own = [...rows.entries()].filter(([, row]) => row.group === group)
  return html`<fieldset class="tools"><legend>${group === 0 ? 'Conditions' : `Group ${group}`}</legend>${inGroup}${own.map(
    ([at]) => rowPart(part, at),
  )}${groupsIn(parents, group).map((inner) => groupPart(part, inner))}${mayAdd && adding(part, group)}</fieldset>`
}

function rowPart(part: Making, at: number): Html {
  const { sentence, offered, kindOf, values } = part
  const row = sentence.rows[at]
  if (row === undefined) return html``
  const name = html`<span class="hidden"> condition ${at + 1}</span>`
  const buttons = html`<p class="buttons">${button(
    part,
    `show:${at}`,
    html`Show the comparisons that fit${name}`,
    `what-${at} how-${at}`,
  )} ${button(part, `remove.${at}`, html`Remove${name}`)}</p>`
  return conditionPart({
    at,
    row,
    choices: offered[at] ?? [],
    kindOf,
    values: values.get(row.field),
    buttons,
  })
}

const adding = (part: Making, group: number): Html => {
  const where = group > 0 && html`<span class="hidden"> to group ${group}</span>`
  return html`<p class="buttons">${button(part, `add.${group}`, html`Add a condition${where}`)}${
    mayHaveGroups(part.sentence, group) &&
    html` ${button(part, `group.${group}`, html`Add a group${where}`)}`
  }</p>`
}

function button(
  { sentence, action, prefix = '' }: RulePart,
  wish: string,
  says: Html,
  /** The ids of the choices that press it. */
  follows?: string,
): Html {
  const [, shown] = /^show:(\d+)$/.exec(wish) ?? []
  const place = shown ?? placeAfter(sentence, wish)
  const to = action.includes('#') ? action : `${action}#condition-${place}`
  return html`<button name="do" value="${prefix}${wish}" formaction="${to}" formnovalidate${
    follows !== undefined && html` data-follows="${follows}"`
  }>${says}</button>`
}
