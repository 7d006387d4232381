import { type FieldKind, type RuleFault, ruleFaultOf, senseless } from '../../rules/index.js'
import { SegmentRule } from '../../segments/index.js'
import { type ConditionRow, conditionOf, type KindOf } from './condition.js'

const fitting: Readonly<Record<FieldKind, readonly string[]>> = {
  truth: ['yes', 'no'],
  count: ['gte', 'lte', 'eq', 'neq', 'gt', 'lt'],
  // A day begins at 00:00, so that nearly all of it comes after it: 'is after' would say what nobody means.
  time: ['within', 'not_within', 'gte', 'lt', 'exists', 'is_empty'],
  text: ['eq', 'neq', 'contains', 'not_contains', 'starts_with', 'ends_with', 'exists', 'is_empty'],
  number: ['eq', 'neq', 'gte', 'lte', 'gt', 'lt', 'exists', 'is_empty'],
  day: ['eq', 'neq', 'gte', 'lte', 'gt', 'lt', 'within', 'not_within', 'exists', 'is_empty'],
}

const usual: Readonly<Record<FieldKind, string>> = {
  truth: 'yes',
  count: 'gte',
  time: 'within',
  text: 'contains',
  number: 'gte',
  day: 'gte',
}
const usualOnes = [...Object.values(usual), 'no', 'eq']

/** The operators that a condition offers: those that fit what its field holds, and its own. */
export function fittingOperators(
  kind: FieldKind | undefined,
  operator: string,
  all: readonly string[],
): readonly string[] {
  if (kind === undefined) return all
  const some = fitting[kind]
  return some.includes(operator) || !all.includes(operator) ? some : [...some, operator]
}

/** A condition whose field was changed alone has the operator that is usual for the new one. */
export function withUsualOperator(row: ConditionRow, kindOf: KindOf): ConditionRow {
  const kind = kindOf(row.field)
  if (kind === undefined || row.value.trim() !== '') return row
  const isLeft = usualOnes.includes(row.operator) && !fitting[kind].includes(row.operator)
  return isLeft ? { ...row, operator: usual[kind] } : row
}

/** Whether a condition says all by itself. */
export const needsNoValue = (operator: string): boolean =>
  ['yes', 'no', 'exists', 'is_empty'].includes(operator)

/** Whether it is compared with how long ago something was. */
export const isSpan = (operator: string): boolean =>
  operator === 'within' || operator === 'not_within'

/** What makes no sense of a condition; undefined where nothing is wrong. */
export function faultOfRow(row: ConditionRow, kind: FieldKind | undefined): RuleFault | undefined {
  const { operator, value } = row
  const said = conditionOf(row)
  const compared = 'not' in said ? said.not : said
  // Values of an account's own fields may be numbers though all that were looked at are texts.
  const isAny = kind === 'text' && row.field.startsWith('contact.metadata.')
  const given = isAny && typeof compared.value !== 'boolean' ? 'any' : compared.value
  if (kind !== undefined && !fitting[kind].includes(operator)) {
    const fault = senseless(kind, compared.operator, given)
    if (fault !== undefined) return fault
  }
  if (!needsNoValue(operator) && value.trim() === '') {
    // An empty text is in every text.
    const code = isSpan(operator) ? 'duration' : 'noValue'
    return { message: 'Expected a value', code }
  }
  const fault = senseless(kind, compared.operator, given)
  if (fault !== undefined) return fault
  const [failure] = SegmentRule.validate(said)
  return failure && ruleFaultOf([...failure.failures()][0] ?? failure)
}
