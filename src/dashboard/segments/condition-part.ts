import { ruleLimits } from '../../segments/index.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { FieldChoice } from './choices.js'
import type { ConditionRow, KindOf } from './condition.js'
import { fittingOperators, isSpan, needsNoValue, withUsualOperator } from './fitting.js'
import { operators, operatorWord } from './rule-words.js'
import { countsEvents } from './sent-rule.js'

/** A condition in a form. */
interface ConditionPart {
  /** Its place among all of the form. */
  at: number
  row: ConditionRow
  /** The fields that it offers. */
  choices: readonly FieldChoice[]
  kindOf: KindOf
  /** The id of the list of what its field is often compared with; undefined where nothing is known. */
  values: string | undefined
  buttons: Html
}

/** What it is about, how it is compared, and with what; each list of fields has the same length in any form. */
export function conditionPart({ at, row: typed, choices, kindOf, values, buttons }: ConditionPart) {
  const row = withUsualOperator(typed, kindOf)
  const kind = kindOf(row.field)
  const what = field({
    name: 'field',
    id: `what-${at}`,
    label: 'What',
    type: 'select',
    options: choices,
    value: row.field,
  })
  const how = field({
    name: 'operator',
    id: `how-${at}`,
    label: 'How',
    type: 'select',
    options: fittingOperators(kind, row.operator, operators).map((value) => ({
      value,
      label: operatorWord(value, kind),
    })),
    value: row.operator,
  })
  const since = countsEvents(kindOf, row.field)
    ? field({
        name: 'since',
        id: `since-${at}`,
        label: 'In the last, such as 30 days',
        required: false,
        value: row.since,
        maxlength: 40,
        autocomplete: 'off',
      })
    : html`<input type="hidden" name="since" value="">`
  return html`<div class="tools condition" id="condition-${at}" role="group" aria-label="Condition ${at + 1}"><input type="hidden" name="group" value="${row.group}">${what}${how}${valueField(
    row,
    { id: `than-${at}`, kind, values },
  )}${since}${buttons}</div>`
}

const isDay = (value: string) => /^\d{4}-\d\d-\d\d$/.test(value)

/** What it is compared with, as its field and the operator take it; what was typed for another one is kept. */
function valueField(
  { operator, value }: ConditionRow,
  { id, kind, values }: { id: string; kind: ReturnType<KindOf>; values: string | undefined },
): Html {
  const common = { name: 'value', id, value, autocomplete: 'off' }
  if (needsNoValue(operator)) return html`<input type="hidden" name="value" value="${value}">`
  if (isSpan(operator)) {
    return field({ ...common, label: 'How long, such as 30 days', maxlength: 40 })
  }
  const maxlength = ruleLimits.text
  switch (kind) {
    case 'time':
    case 'day': {
      const label = kind === 'time' ? 'Day, which begins at 00:00 UTC' : 'Day'
      const isTyped = value !== '' && !isDay(value)
      // A field for dates would not show what is none.
      return isTyped
        ? field({ ...common, label, maxlength })
        : field({ ...common, label, type: 'date' })
    }
    case 'count':
      return field({ ...common, label: 'How many', inputmode: 'numeric', maxlength: 15 })
    case 'number':
      return field({ ...common, label: 'Number', inputmode: 'decimal', maxlength: 30 })
    case 'text':
      return field({ ...common, label: 'Text', maxlength, ...(values && { list: values }) })
    default: {
      const label = 'Value, such as Lagos, 3 or 30 days'
      return field({ ...common, label, maxlength, ...(values && { list: values }) })
    }
  }
}
