import type { ConditionRow } from './sentence.js'

/** What the field of a condition is, as far as the form knows. */
type RowKind = 'truth' | 'time' | 'text'

// Is on a list, has left a topic, is in a segment, gets or opened mail; when somebody joined a list is a time.
const holdsOrNot =
  /^(mailable$|topic\.|segment\.|list\.[^.]*$|broadcast\.[^.]*\.(sent|delivered|opened|clicked|left|complained|unreached)$|email\.[^.]*\.(opened|clicked|delivered|bounced)$)/
const times = /^(contact\.createdAt$|list\.[^.]*\.joinedAt$|engagement\.last[A-Za-z]*At$)/
const texts = /^contact\.(email|firstName|lastName|phone)$/

const kindOf = (field: string): RowKind | undefined =>
  holdsOrNot.test(field)
    ? 'truth'
    : times.test(field)
      ? 'time'
      : texts.test(field)
        ? 'text'
        : undefined

const fitting: Readonly<Record<RowKind, readonly string[]>> = {
  truth: ['yes', 'no'],
  time: ['within', 'not_within', 'gt', 'gte', 'lt', 'lte', 'exists', 'is_empty'],
  text: ['eq', 'neq', 'contains', 'not_contains', 'starts_with', 'ends_with', 'exists', 'is_empty'],
}
const usual: Readonly<Record<RowKind, string>> = { truth: 'yes', time: 'within', text: 'contains' }

/** The operators that a condition offers: those that fit its field, all of them while nobody has filled it in, and its own. */
export function fittingOperators<T extends { value: string }>(
  { field, operator, value }: ConditionRow,
  all: readonly T[],
): readonly T[] {
  const kind = kindOf(field)
  // Without script the field is chosen in the same form: it may become any.
  if (kind === undefined || (kind === 'text' && value === '')) return all
  return all.filter((one) => one.value === operator || fitting[kind].includes(one.value))
}

/** A condition whose field was changed alone has the operator that is usual for the new one. */
export function withUsualOperator(row: ConditionRow): ConditionRow {
  const kind = kindOf(row.field)
  if (kind === undefined || row.value.trim() !== '') return row
  const isLeft =
    kind === 'text' ? fitting.truth.includes(row.operator) : row.operator === 'contains'
  return isLeft ? { ...row, operator: usual[kind] } : row
}

/** What makes no sense of a condition, in the words of the form; undefined where the rule's own checker has the word. */
export function unfitting({ field, operator, value }: ConditionRow): string | undefined {
  const kind = kindOf(field)
  if (kind === 'truth') {
    return fitting.truth.includes(operator)
      ? undefined
      : 'this holds or does not hold; choose one of these two'
  }
  if (kind !== undefined && !fitting[kind].includes(operator)) {
    return kind === 'time'
      ? 'this is a time; choose “was in the last”, or “is more than, or after” with a date'
      : 'this is a text; choose “is”, “contains” or another way to compare texts'
  }
  const needsNone = ['yes', 'no', 'exists', 'is_empty'].includes(operator)
  // An empty text is in every text.
  return !needsNone && value.trim() === '' ? 'say what it is compared with' : undefined
}
