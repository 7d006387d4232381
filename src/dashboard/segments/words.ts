import { noMailWords } from '../../contacts/index.js'
import type { BrokenPart, PeopleCount, Segment, SegmentUse } from '../../segments/index.js'
import { plural } from '../format.js'
import { inQuotes } from '../shell/names.js'

/** Both numbers, and why the others get no mail, in a sentence or two. */
export function countWords(
  counts: Omit<PeopleCount, 'sample' | 'erased'> & { sample?: number | null },
  erased: number | undefined,
): string {
  const { count, mailable, unsubscribed, bounced, complained, suppressed, sample } = counts
  const about = typeof sample === 'number'
  const number = (value: number) => value.toLocaleString('en-GB')
  const fit = `${about ? 'About ' : ''}${number(count)} ${count === 1 ? 'person fits' : 'people fit'}`
  const from = about ? `, from ${number(sample)} looked at` : ''
  const reasons = [
    ['unsubscribed', unsubscribed],
    ['bounced', bounced],
    ['complained', complained],
    ...byHandWords(suppressed, erased),
  ] as const
  const why = reasons
    .filter(([, some]) => some > 0)
    .map(([word, some]) => `${number(some)} ${word}`)
  const others = why.length === 0 ? '' : `; of the others ${why.join(', ')}`
  return `${fit}${from}. ${number(mailable)} of them ${mailable === 1 ? 'gets' : 'get'} your marketing mail${others}.`
}

/** Who is suppressed by hand, and who was erased: apart, where it is known how many were. */
export const byHandWords = (
  suppressed: number,
  erased: number | undefined,
): (readonly [word: string, count: number])[] =>
  erased === undefined
    ? [['suppressed by hand or erased', suppressed]]
    : [
        [noMailWords.suppressed, Math.max(0, suppressed - erased)],
        [noMailWords.erased, Math.min(erased, suppressed)],
      ]

/** What a rule asks for that is not there any more. */
export const brokenWords = (broken: readonly BrokenPart[]): string =>
  [...new Set(broken.map(({ thing }) => thing))]
    .map((thing) => {
      const count = broken.filter((one) => one.thing === thing).length
      return `it asks for ${count === 1 ? `a ${thing} that is` : `${count} ${thing}s that are`} deleted`
    })
    .join(', and ')

// What a sentence has room for.
const mostNamed = 6

/** What uses a segment, in a sentence's part: `the segment “Circle” and the automation “Welcome”`; undefined for nothing. */
export function useWords(uses: readonly SegmentUse[]): string | undefined {
  const named = uses.slice(0, mostNamed).map(({ kind, name }) => `the ${kind} ${inQuotes(name)}`)
  const more = uses.length - named.length
  const all = more > 0 ? [...named, `${more} more`] : named
  const last = all.pop()
  if (last === undefined) return undefined
  return all.length === 0 ? last : `${all.join(', ')} and ${last}`
}

/** How far it is. */
export const stateChip = ({ state }: Pick<Segment, 'state'>) =>
  state === 'filling'
    ? ({ text: 'being filled', tone: 'doubt' } as const)
    : ({ text: 'up to date', tone: 'good' } as const)

export const peopleWords = (count: number): string =>
  count === 1 ? '1 person' : plural(count, 'person').replace(/persons$/, 'people')
