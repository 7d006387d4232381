import type { Form } from '../../http/index.js'
import { ruleLimits, segmentFieldKind } from '../../segments/index.js'
import type { KindOf } from './condition.js'
import { withUsualOperator } from './fitting.js'
import { depthOf, groupsIn, inOrder, type RuleSentence } from './sentence.js'

// Longer texts are refused by their number; what is longer yet nobody has typed.
const mostTyped = 2_000
// Conditions stand within a group within a group within the rule.
const mostGroups = ruleLimits.levels - 2

/** Whether a group may have one in it. */
export const mayHaveGroups = ({ parents }: RuleSentence, group: number): boolean =>
  depthOf(parents, group) < mostGroups

/** The rule as it stands in a form that was sent. `kindOf`: what the fields of its language hold. */
export function sentenceIn(fields: Form, kindOf: KindOf = segmentFieldKind): RuleSentence {
  const modeOf = (given: string | undefined) => (given === 'any' ? 'any' : 'all')
  const [operators, values, sinces, groups, parents] = [
    'operator',
    'value',
    'since',
    'group',
    'parents',
  ].map((name) => fields.all(name))
  const modes = fields.all('modes').slice(0, ruleLimits.conditions).map(modeOf)
  return {
    mode: modeOf(fields.get('mode')),
    modes,
    // A group stands in one that was there before it.
    parents: modes.map((_, at) => numberIn(parents?.[at], at)),
    rows: fields
      .all('field')
      .slice(0, ruleLimits.conditions)
      .map((field, at) => {
        const row = {
          field,
          operator: operators?.[at] ?? 'eq',
          value: (values?.[at] ?? '').slice(0, mostTyped),
          since: (sinces?.[at] ?? '').slice(0, mostTyped),
          group: numberIn(groups?.[at], modes.length),
        }
        return withUsualOperator(countsEvents(kindOf, field) ? row : { ...row, since: '' }, kindOf)
      }),
  }
}

/** Whether a field counts events, and so may ask for those of some time back. */
export const countsEvents = (kindOf: KindOf, field: string): boolean =>
  field.startsWith('event.') && kindOf(field) === 'count'

/** A whole number of 0 to the most; 0 for any other. */
function numberIn(typed: string | undefined, most: number): number {
  const number = Number(typed)
  return Number.isInteger(number) && number >= 0 && number <= most ? number : 0
}

/** What a button asks for: `add`, `add.1` (in a group), `group`, `group.1`, `remove.3`. */
export function changed(sentence: RuleSentence, wish: string): RuleSentence {
  const [verb, place] = wish.split('.')
  const at = Number(place ?? 0)
  const fresh = (group: number) => ({
    field: 'contact.email',
    operator: 'contains',
    value: '',
    since: '',
    group,
  })
  if (verb === 'remove') return { ...sentence, rows: sentence.rows.filter((_, n) => n !== at) }
  if (sentence.rows.length >= ruleLimits.conditions) return sentence
  if (verb === 'add') return inOrder({ ...sentence, rows: [...sentence.rows, fresh(at)] })
  if (verb !== 'group' || !mayHaveGroups(sentence, at)) return sentence
  const around = at === 0 ? sentence.mode : sentence.modes[at - 1]
  const modes = [...sentence.modes, around === 'all' ? ('any' as const) : ('all' as const)]
  const rows = [...sentence.rows, fresh(modes.length), fresh(modes.length)]
  return inOrder({ ...sentence, modes, parents: [...sentence.parents, at], rows })
}

/** The place of the condition at which somebody goes on after such a button. */
export function placeAfter(sentence: RuleSentence, wish: string): number {
  const [verb, place] = wish.split('.')
  const at = Number(place ?? 0)
  const { rows, parents } = changed(sentence, wish)
  if (verb === 'remove') return Math.max(0, Math.min(at, rows.length - 1))
  const group = verb === 'group' ? (groupsIn(parents, at).at(-1) ?? at) : at
  const own = [...rows.keys()].filter((one) => rows[one]?.group === group)
  return (verb === 'group' ? own[0] : own.at(-1)) ?? 0
}
