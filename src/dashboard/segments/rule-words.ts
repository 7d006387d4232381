import { counted } from '../../amounts/index.js'
import type { FieldKind, Rule } from '../../rules/index.js'
import { eventWords } from '../event-words.js'
import type { FieldChoice } from './choices.js'
import type { ConditionRow } from './condition.js'
import { groupsIn, nearSentenceOf } from './sentence.js'

/** How a condition is said, in the order of the select. */
const operatorWords: Readonly<Record<string, string>> = {
  yes: 'holds',
  no: 'does not hold',
  eq: 'is',
  neq: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'begins with',
  ends_with: 'ends with',
  gte: 'is at least',
  lte: 'is at most',
  gt: 'is more than, or after',
  lt: 'is less than, or before',
  within: 'was in the last',
  not_within: 'was not in the last',
  exists: 'is known',
  is_empty: 'is not known',
}

/** All operators of forms. */
export const operators = Object.keys(operatorWords)

const numbers = { eq: 'is exactly', neq: 'is not', gt: 'is more than', lt: 'is less than' }
const dates = { gte: 'is on or after', lt: 'is before' }
const ofKinds: Readonly<Partial<Record<FieldKind, Readonly<Record<string, string>>>>> = {
  count: numbers,
  number: numbers,
  day: { ...dates, gt: 'is after', lte: 'is on or before' },
  time: { ...dates, gt: 'is after the beginning of', lte: 'is at or before the beginning of' },
  // Such a rule was saved before it was refused: there is always an answer.
  truth: { exists: 'holds or does not hold', is_empty: 'neither holds nor does not hold' },
}

/** How an operator is called of a field that holds this. */
export const operatorWord = (operator: string, kind: FieldKind | undefined): string =>
  (kind && ofKinds[kind]?.[operator]) ?? operatorWords[operator] ?? operator

/** A rule in words, as far as forms can say it; else that it was made by the API. */
export function wordsOf(rule: Rule, choices: readonly FieldChoice[]): string {
  const sentence = nearSentenceOf(rule)
  if (sentence === undefined) return 'A rule that was written for the API'
  const say = (row: ConditionRow) =>
    rowWords(
      row,
      choices.find((one) => one.value === row.field),
    )
  const partsOf = (group: number): string[] => [
    ...sentence.rows.filter((row) => row.group === group).map(say),
    ...groupsIn(sentence.parents, group).flatMap((inner) => {
      const some = partsOf(inner)
      const words = joined(sentence.modes[inner - 1] ?? 'all', some)
      return some.length === 0 ? [] : [some.length > 1 ? `(${words})` : words]
    }),
  ]
  return joined(sentence.mode, partsOf(0))
}

const joined = (mode: string, some: string[]) => some.join(mode === 'all' ? ' and ' : ' or ')

function rowWords(row: ConditionRow, choice: FieldChoice | undefined): string {
  const { field, operator, value, since } = row
  const label = choice?.label ?? plainName(field)
  const kind = choice?.kind
  // What holds is a sentence by itself: “Welcome” was opened.
  if (operator === 'yes') return label
  if (operator === 'no') return negated(label)
  const how = operatorWord(operator, kind)
  if (kind !== 'count' || !field.startsWith('event.')) {
    return [label, how, dayOr(value)].filter(Boolean).join(' ')
  }
  const event = eventWords(field.slice('event.'.length))
  const times = /^\d+$/.test(value) ? counted(Number(value), 'time') : value
  return `${event} ${how.replace(/^is /, '')} ${times}${since === '' ? '' : ` in the last ${since}`}`
}

// What is said of a mail, and its opposite.
const opposites: readonly (readonly [RegExp, string])[] = [
  [/ was (opened|clicked in|delivered)$/, ' was not $1'],
  [/ arrived$/, ' did not arrive'],
  [/ bounced$/, ' did not bounce'],
]

/** That a sentence does not hold, as people say it where there is a way. */
function negated(label: string): string {
  const [form, says = ''] = opposites.find(([one]) => one.test(label)) ?? []
  return form === undefined ? `${label} does not hold` : label.replace(form, says)
}

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** A day as people write it; what is none as it is. */
function dayOr(value: string): string {
  const at = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? value : days.format(at)
}

/** A field that nothing names. */
const plainName = (field: string) => field.replace(/^contact\.(metadata\.)?/, '')
