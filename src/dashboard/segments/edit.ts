import { array, optional, string, type } from 'superstruct'
import { ApiError } from '../../errors/index.js'
import type { Form } from '../../http/index.js'
import { comparisonsOf, type Rule } from '../../rules/index.js'
import {
  brokenParts,
  countPeople,
  mailedUnknown,
  ruleLimits,
  type Segment,
  SegmentRule,
} from '../../segments/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { Visit } from '../shell/visit.js'
import { choicesOfRows, fieldChoices } from './choices.js'
import type { SegmentPageDeps } from './deps.js'
import { unfitting, withUsualOperator } from './fitting.js'
import { rulePart } from './rule-part.js'
import {
  type ConditionRow,
  conditionOf,
  type RuleSentence,
  ruleOfSentence,
  sentenceOf,
} from './sentence.js'
import { countWords } from './words.js'

/** A segment as it is being written. */
interface EditView {
  base: string
  accountId: string
  /** Where it is saved. */
  action: string
  /** Where buttons that only change the form go. */
  editAction: string
  back: string
  title: string
  name: string
  /** The conditions; undefined where this form cannot say the rule. */
  rule: Html | undefined
  counted: string | undefined
  id: string | undefined
  faults: Faults
}

/** What the form sends; conditions are lists of the same length. */
export const SegmentForm = type({
  name: optional(string()),
  mode: optional(string()),
  modes: array(string()),
  field: array(string()),
  operator: array(string()),
  value: array(string()),
  group: array(string()),
  do: optional(string()),
})

/** The rule as it stands in a form that was sent. */
export function sentenceIn(fields: Form): RuleSentence {
  const [operators, values, groups] = ['operator', 'value', 'group'].map((name) => fields.all(name))
  const modeOf = (given: string | undefined) => (given === 'any' ? 'any' : 'all')
  return {
    mode: modeOf(fields.get('mode')),
    modes: fields.all('modes').slice(0, ruleLimits.conditions).map(modeOf),
    rows: fields
      .all('field')
      .slice(0, ruleLimits.conditions)
      .map((field, at) =>
        withUsualOperator({
          field,
          operator: operators?.[at] ?? 'eq',
          value: (values?.[at] ?? '').slice(0, ruleLimits.text),
          group: Number(groups?.[at]) || 0,
        }),
      ),
  }
}

/** What a button asks for: `add`, `add.1` (in a group), `group`, `remove.3`. */
export function changed(sentence: RuleSentence, wish: string): RuleSentence {
  const [verb, place] = wish.split('.')
  const at = Number(place ?? 0)
  const fresh = (group: number) => ({
    field: 'contact.email',
    operator: 'contains',
    value: '',
    group,
  })
  if (verb === 'remove') return { ...sentence, rows: sentence.rows.filter((_, n) => n !== at) }
  if (sentence.rows.length >= ruleLimits.conditions) return sentence
  if (verb === 'add') return { ...sentence, rows: [...sentence.rows, fresh(at)] }
  if (verb !== 'group') return sentence
  const modes = [...sentence.modes, sentence.mode === 'all' ? ('any' as const) : ('all' as const)]
  return { ...sentence, modes, rows: [...sentence.rows, fresh(modes.length), fresh(modes.length)] }
}

/** The rule of a form that was sent. Throws a 400 that says what is wrong, in the words of the form. */
export function ruleIn(fields: Form): Rule {
  const sentence = sentenceIn(fields)
  if (sentence.rows.length === 0) {
    throw new ApiError(
      'validation_error',
      'Add a condition: a segment of everybody is a list of all',
    )
  }
  const rule = ruleOfSentence(sentence)
  const fault = faultOfRows(sentence.rows) ?? faultOf(rule)
  if (fault === undefined) return rule
  throw new ApiError('validation_error', fault)
}

/** The first condition at fault, by its place in the form. */
function faultOfRows(rows: readonly ConditionRow[]): string | undefined {
  for (const [at, row] of rows.entries()) {
    const fault = faultOfRow(row)
    if (fault !== undefined) return `Condition ${at + 1}: ${fault}`
  }
  return undefined
}

function faultOfRow(row: ConditionRow): string | undefined {
  return unfitting(row) ?? faultOf(conditionOf(row))
}

function faultOf(rule: Rule): string | undefined {
  const [failure] = SegmentRule.validate(rule)
  return failure && ([...failure.failures()][0] ?? failure).message
}

/** The form of a new segment, or of one that is there. */
export async function showEdit(
  { store: { read }, clock }: SegmentPageDeps,
  visit: Visit<unknown>,
  given: {
    segment?: Segment | undefined
    sentence?: RuleSentence | undefined
    name?: string | undefined
    faults: Faults
    isCounted?: boolean
  },
): Promise<PageAnswer> {
  const { account, base } = visit
  const { segment, faults } = given
  const sentence = given.sentence ?? (segment && sentenceOf(segment.rule))
  const rule = sentence === undefined ? undefined : ruleOfSentence(sentence)
  const fields = rule === undefined ? [] : comparisonsOf(rule).map((one) => one.field)
  const fault = sentence && faultOfRows(sentence.rows)
  const isSound = fields.length > 0 && fault === undefined
  const unknown = given.isCounted && rule && isSound ? await mailedUnknown(read, rule) : undefined
  const counted =
    given.isCounted && rule && isSound && unknown === undefined && SegmentRule.is(rule)
  const choices = await fieldChoices(read, account.id, fields)
  const offered = choicesOfRows(choices, sentence?.rows ?? [])
  const broken = counted ? await brokenParts(read, account.id, rule) : []
  const here = segment === undefined ? `${base}/segments` : `${base}/segments/${segment.id}`
  const editAction = segment === undefined ? `${base}/segments/new/draft` : `${here}/draft`
  const view: EditView = {
    base,
    accountId: account.id,
    action: segment === undefined ? `${base}/segments/new` : `${here}/edit`,
    editAction,
    back: here,
    title: segment === undefined ? 'New segment' : `Change “${segment.name}”`,
    name: given.name ?? segment?.name ?? '',
    rule:
      sentence &&
      rulePart({
        sentence,
        choices: offered,
        isShort: offered.some((some) => some.length < choices.length),
        mayAdd: sentence.rows.length < ruleLimits.conditions,
        action: editAction,
        says: 'People for whom',
      }),
    counted:
      broken.length > 0
        ? `Nobody fits: ${broken.join('; ')}.`
        : counted
          ? countWords(await countPeople({ read, clock }, account.id, rule))
          : given.isCounted && (fault ?? unknown) !== undefined
            ? `${fault ?? unknown}.`
            : undefined,
    id: segment?.id,
    faults,
  }
  return page('segments/edit', view, { title: view.title })
}
