import { isDeepStrictEqual } from 'node:util'
import type { Rule } from '../../rules/index.js'
import { type ConditionRow, conditionOf, rowOf } from './condition.js'

type Mode = 'all' | 'any'

/** A rule as the form has it: conditions, some of them in groups, which may be in groups. */
export interface RuleSentence {
  mode: Mode
  /** How the conditions of each group hang together, from the first one on. */
  modes: Mode[]
  /** The group in which each of them is: 0 is the rule itself, any other one stands before it. */
  parents: number[]
  rows: ConditionRow[]
}

/** The rule that a form says; what is wrong with a condition is the checker's to say. */
export function ruleOfSentence({ mode, modes, parents, rows }: RuleSentence): Rule {
  const partsOf = (group: number): Rule[] => [
    ...rows.filter((row) => row.group === group).map(conditionOf),
    ...groupsIn(parents, group).flatMap((inner): Rule[] => {
      const parts = partsOf(inner)
      return parts.length === 0 ? [] : [joined(modes[inner - 1] ?? 'all', parts)]
    }),
  ]
  return joined(mode, partsOf(0))
}

const joined = (mode: Mode, parts: Rule[]): Rule =>
  mode === 'all' ? { all: parts } : { any: parts }

/** The groups that are in one. */
export const groupsIn = (parents: readonly number[], group: number): number[] =>
  parents.flatMap((parent, at) => (parent === group ? [at + 1] : []))

/** How many groups one stands in; 0 is the rule itself. */
export const depthOf = (parents: readonly number[], group: number): number =>
  group === 0 ? 0 : 1 + depthOf(parents, parents[group - 1] ?? 0)

/**
 * The same as a form sends it: conditions and groups in the order in which they are drawn, each group's own before those of
 * the groups in it. Buttons and faults name them by that.
 */
export function inOrder({ mode, modes, parents, rows }: RuleSentence): RuleSentence {
  const made: RuleSentence = { mode, modes: [], parents: [], rows: [] }
  const add = (group: number, as: number): void => {
    const own = rows.filter((row) => row.group === group)
    made.rows.push(...own.map((row) => ({ ...row, group: as })))
    for (const inner of groupsIn(parents, group)) {
      made.modes.push(modes[inner - 1] ?? 'all')
      made.parents.push(as)
      add(inner, made.modes.length)
    }
  }
  add(0, 0)
  return made
}

/** What a form shows of a rule; undefined for one that it would save otherwise, as the API may make them. */
export const sentenceOf = (rule: Rule): RuleSentence | undefined => sentenceWith(rule, exactRowOf)

/** The same, also where it would be saved otherwise, for words. */
export const nearSentenceOf = (rule: Rule): RuleSentence | undefined => sentenceWith(rule, rowOf)

/** How a condition is shown, if it can be. */
type ShowRow = (rule: Rule, group: number) => ConditionRow | undefined

function sentenceWith(rule: Rule, showRow: ShowRow): RuleSentence | undefined {
  const whole = groupOf(rule) ?? { mode: 'all' as const, parts: [rule] }
  const made: RuleSentence = { mode: whole.mode, modes: [], parents: [], rows: [] }
  const isSaid = (parts: readonly Rule[], group: number): boolean =>
    parts.every((part) => {
      const inner = groupOf(part)
      if (inner !== undefined) {
        made.modes.push(inner.mode)
        made.parents.push(group)
        return isSaid(inner.parts, made.modes.length)
      }
      const row = showRow(part, group)
      if (row !== undefined) made.rows.push(row)
      return row !== undefined
    })
  return isSaid(whole.parts, 0) ? inOrder(made) : undefined
}

function groupOf(rule: Rule): { mode: Mode; parts: Rule[] } | undefined {
  if ('all' in rule) return { mode: 'all', parts: rule.all }
  return 'any' in rule ? { mode: 'any', parts: rule.any } : undefined
}

/** Of such as the form would save as they are: not one that heeds case, for example. */
const exactRowOf: ShowRow = (rule, group) => {
  const row = rowOf(rule, group)
  return row !== undefined && isDeepStrictEqual(conditionOf(row), rule) ? row : undefined
}
