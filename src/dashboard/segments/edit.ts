import { isDeepStrictEqual } from 'node:util'
import { array, optional, string, type } from 'superstruct'
import { ApiError } from '../../errors/index.js'
import type { Form } from '../../http/index.js'
import { comparisonsOf, type Rule, ruleFaultOf } from '../../rules/index.js'
import {
  brokenParts,
  countPeople,
  erasedIn,
  mailedUnknown,
  type Segment,
  SegmentRule,
  segmentFieldKind,
} from '../../segments/index.js'
import type { Read } from '../../store/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import { markOf, markPart, type StoredNow } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import { fieldChoices } from './choices.js'
import type { KindOf } from './condition.js'
import { conditionWords } from './condition-words.js'
import type { SegmentPageDeps } from './deps.js'
import { faultOfRow } from './fitting.js'
import { kindsOf, rulePart } from './rule-part.js'
import { wordsOf } from './rule-words.js'
import { sentenceIn } from './sent-rule.js'
import { type RuleSentence, ruleOfSentence, sentenceOf } from './sentence.js'
import { affectedBy } from './uses.js'
import { brokenWords, countWords, useWords } from './words.js'

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
  counted: string
  /** How many people are in it now, and who uses it; undefined for a new one. */
  now: string | undefined
  used: string | undefined
  id: string | undefined
  /** What it was filled with; undefined for a new one. */
  mark: Html | undefined
  faults: Faults
}

/** What the form sends; conditions are lists of the same length, and so are groups. */
export const SegmentForm = type({
  name: optional(string()),
  mode: optional(string()),
  modes: array(string()),
  parents: array(string()),
  field: array(string()),
  operator: array(string()),
  value: array(string()),
  since: array(string()),
  group: array(string()),
  do: optional(string()),
})

/** The rule of a form that was sent. Throws a 400 that says what is wrong, in the words of the form. */
export async function ruleIn(read: Read, accountId: string, fields: Form): Promise<Rule> {
  const sentence = sentenceIn(fields)
  if (sentence.rows.length === 0) {
    throw new ApiError(
      'validation_error',
      'Add a condition: a segment of everybody is a list of all',
    )
  }
  const choices = await fieldChoices(read, accountId)
  const fault =
    faultOf(sentence, kindsOf(choices, segmentFieldKind)) ??
    (await brokenIn(read, accountId, sentence))
  if (fault === undefined) return ruleOfSentence(sentence)
  throw new ApiError('validation_error', fault)
}

/** The first condition at fault, by its place in the form, or what is wrong with all of them together. */
function faultOf(sentence: RuleSentence, kindOf: KindOf): string | undefined {
  for (const [at, row] of sentence.rows.entries()) {
    const fault = faultOfRow(row, kindOf(row.field))
    if (fault !== undefined) return `Condition ${at + 1}: ${conditionWords(fault)}`
  }
  const [failure] = SegmentRule.validate(ruleOfSentence(sentence))
  return failure && conditionWords(ruleFaultOf([...failure.failures()][0] ?? failure))
}

/** A condition that asks for what is deleted. */
async function brokenIn(
  read: Read,
  accountId: string,
  sentence: RuleSentence,
): Promise<string | undefined> {
  const [broken] = await brokenParts(read, accountId, ruleOfSentence(sentence))
  if (broken === undefined) return undefined
  const at = sentence.rows.findIndex(({ field }) => field.toLowerCase().startsWith(broken.path))
  return `Condition ${at + 1}: this ${broken.thing} is deleted; choose another one, or remove the condition`
}

/** Who fits what is in a form, or why that cannot be said. */
async function countedWords(
  { store: { read }, clock }: SegmentPageDeps,
  accountId: string,
  { sentence, kindOf }: { sentence: RuleSentence; kindOf: KindOf },
): Promise<string> {
  if (sentence.rows.length === 0) return ''
  const rule = ruleOfSentence(sentence)
  const fault = faultOf(sentence, kindOf)
  if (fault !== undefined) return `${fault}.`
  const broken = await brokenParts(read, accountId, rule)
  if (broken.length > 0) return `Nobody fits: ${brokenWords(broken)}.`
  const unknown = await mailedUnknown(read, rule)
  if (unknown !== undefined) return `${unknown}.`
  const counts = await countPeople({ read, clock }, accountId, rule)
  return countWords(counts, counts.erased)
}

/** What the form has of a rule, and what it offers. */
async function ruleView(
  deps: SegmentPageDeps,
  accountId: string,
  {
    sentence,
    action,
    isCounted,
  }: { sentence: RuleSentence; action: string; isCounted: boolean | undefined },
): Promise<{ rule: Html; counted: string }> {
  const fields = comparisonsOf(ruleOfSentence(sentence)).map((one) => one.field)
  const choices = await fieldChoices(deps.store.read, accountId, fields)
  const kindOf = kindsOf(choices, segmentFieldKind)
  return {
    rule: rulePart({ sentence, choices, kindOf, action, says: 'People for whom' }),
    counted: isCounted ? await countedWords(deps, accountId, { sentence, kindOf }) : '',
  }
}

/** Of what the form about a segment is filled with. */
export const markOfSegment = ({ name, rule }: Segment): string => markOf([name, rule])

/** What is stored of a segment otherwise than it was typed. */
async function storedNow(
  read: Read,
  accountId: string,
  { name, rule }: Segment,
  typed: { sentence?: RuleSentence | undefined; name?: string | undefined },
): Promise<StoredNow[]> {
  const isSame = typed.sentence && isDeepStrictEqual(ruleOfSentence(typed.sentence), rule)
  const fields = comparisonsOf(rule).map(({ field }) => field)
  const words = isSame ? '' : wordsOf(rule, await fieldChoices(read, accountId, fields))
  return [
    ...(typed.name?.trim() === name ? [] : [{ label: 'Name', value: name }]),
    ...(isSame ? [] : [{ label: 'Who is in it', value: words }]),
  ]
}

/** The form of a new segment, or of one that is there. */
export async function showEdit(
  deps: SegmentPageDeps,
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
  const { segment, faults, isCounted } = given
  const sentence = given.sentence ?? (segment && sentenceOf(segment.rule))
  const here = segment === undefined ? `${base}/segments` : `${base}/segments/${segment.id}`
  const action = segment === undefined ? `${base}/segments/new/draft` : `${here}/draft`
  const uses = segment && (await affectedBy(deps.store.read, account.id, segment.id))
  const view: EditView = {
    base,
    accountId: account.id,
    action: segment === undefined ? `${base}/segments/new` : `${here}/edit`,
    editAction: action,
    back: here,
    title: segment === undefined ? 'New segment' : `Change “${segment.name}”`,
    name: given.name ?? segment?.name ?? '',
    rule: undefined,
    counted: '',
    ...(sentence && (await ruleView(deps, account.id, { sentence, action, isCounted }))),
    now:
      segment &&
      `In it now: ${countWords(segment, await erasedIn(deps.store.read, account.id, segment))}`,
    used: uses && useWords(uses),
    id: segment?.id,
    mark:
      segment &&
      (await markPart(deps.store.read, visit, {
        target: segment.id,
        mark: markOfSegment(segment),
        page: `${here}/edit`,
        now: () => storedNow(deps.store.read, account.id, segment, given),
      })),
    faults,
  }
  return page('segments/edit', view, { title: view.title, steps: true })
}
