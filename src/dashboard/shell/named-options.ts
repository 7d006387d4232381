import { counted } from '../../amounts/index.js'
import { dayIn, exactIn, timeOfId } from '../format.js'

/*
 * Lists, segments, forms, campaigns and automations may share a name with others of their kind. Where one is chosen,
 * those that do are told apart.
 */

/** Something of an account that is known by its name. */
export interface OfferedThing {
  /** A UUID that has the time when the thing was made. */
  id: string
  name: string
  /** How many people are on a list. */
  contactCount?: number | undefined
  /** How many people are in a segment. */
  count?: number | undefined
}

/** Things of one kind as options of a form. `label`: what the option says of a name. */
export function namedOptions(
  things: readonly OfferedThing[],
  label: (name: string) => string = (name) => name,
): { value: string; label: string }[] {
  const marks = marksApart(things)
  return things.map(({ id, name }) => ({
    value: id,
    label: `${label(name)}${marks.get(id) ?? ''}`,
  }))
}

/** By id, what tells a thing from others of its name: ` (12 people)`. The others have no mark. */
export function marksApart(things: readonly OfferedThing[]): ReadonlyMap<string, string> {
  const byName = new Map<string, OfferedThing[]>()
  for (const one of things) byName.set(one.name, [...(byName.get(one.name) ?? []), one])
  const marks = new Map<string, string>()
  for (const namesakes of byName.values()) {
    if (namesakes.length === 1) continue
    const words =
      ways.map((way) => namesakes.map(way)).find(areApart) ??
      namesakes.map((_, at) => `number ${at + 1}`)
    for (const [at, { id }] of namesakes.entries()) marks.set(id, ` (${words[at]})`)
  }
  return marks
}

const peopleOf = ({ contactCount, count = contactCount }: OfferedThing): string | undefined =>
  count === undefined ? undefined : counted(count, 'person', 'people')

const madeOf = (one: OfferedThing, when: (timeMs: number) => string): string | undefined => {
  const madeAt = timeOfId(one.id)
  if (madeAt === undefined) return undefined
  const people = peopleOf(one)
  return `${people === undefined ? '' : `${people}, `}made on ${when(madeAt)}`
}

/** What may tell namesakes apart, the shortest first; undefined where nothing is known. */
const ways: readonly ((one: OfferedThing) => string | undefined)[] = [
  peopleOf,
  (one) => madeOf(one, (at) => dayIn(at, 'UTC')),
  (one) => madeOf(one, (at) => `${exactIn(at, 'UTC')} UTC`),
]

const areApart = (words: readonly (string | undefined)[]): boolean =>
  !words.includes(undefined) && new Set(words).size === words.length
