import type { PeopleCount, Segment } from '../../segments/index.js'
import { plural } from '../format.js'

/** Both numbers, and why the others get no mail, in a sentence or two. */
export function countWords(
  counts: Omit<PeopleCount, 'sample'> & { sample?: number | null },
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
    ['suppressed by hand', suppressed],
  ] as const
  const why = reasons
    .filter(([, some]) => some > 0)
    .map(([word, some]) => `${number(some)} ${word}`)
  const others = why.length === 0 ? '' : `; of the others ${why.join(', ')}`
  return `${fit}${from}. ${number(mailable)} of them ${mailable === 1 ? 'gets' : 'get'} your marketing mail${others}.`
}

/** How far it is. */
export const stateChip = ({ state }: Pick<Segment, 'state'>) =>
  state === 'filling'
    ? ({ text: 'being filled', tone: 'doubt' } as const)
    : ({ text: 'up to date', tone: 'good' } as const)

export const peopleWords = (count: number): string =>
  count === 1 ? '1 person' : plural(count, 'person').replace(/persons$/, 'people')
