import { shownCount } from '../../amounts/index.js'
import type { Expectation, PartedIssue } from '../../fields/index.js'

/**
 * What is wrong with one field of a form, for the person who filled it in: what to write there. The API's sentence
 * says what a program should send; it is used for fields that have no better words.
 */
export function faultWords({ path, message, misfit }: PartedIssue): string {
  if (misfit === undefined) return message
  const { wanted, isMissing, length = 0 } = misfit
  if (wanted === undefined) return isMissing ? nothingThere : message
  const words = wordsFor(wanted, { isMissing, length })
  // In a list that is typed line by line, the words must name the line.
  const item = path.length > 1 ? path.at(-1) : undefined
  return item !== undefined && /^\d+$/.test(item) ? `Number ${Number(item) + 1}: ${words}` : words
}

const nothingThere = 'Fill this in'

function wordsFor(wanted: Expectation, given: { isMissing: boolean; length: number }): string {
  switch (wanted.is) {
    case 'text':
      return textWords(wanted, given)
    case 'number':
      return `Write a whole number${between(wanted)}`
    case 'list':
      if (given.length > wanted.most) {
        return `At most ${shownCount(wanted.most)} are possible; there are ${shownCount(given.length)}`
      }
      return wanted.least === 1 ? 'Choose at least one' : `Choose at least ${wanted.least}`
    case 'choice':
      return 'Choose one of those that are offered'
    case 'form':
      return `Write ${wanted.a}, such as ${wanted.such}`
    case 'bytes':
      return `It may have ${wanted.most / 1024} KiB at most: leave something out`
  }
}

function textWords(
  { least, most, lines }: Extract<Expectation, { is: 'text' }>,
  { isMissing, length }: { isMissing: boolean; length: number },
): string {
  if (isMissing && least > 0) return nothingThere
  if (length > most) {
    return `Write at most ${shownCount(most)} characters; there are ${shownCount(length)}`
  }
  if (length < least) return `Write at least ${least} characters`
  return lines === 'one'
    ? 'Write it on one line, without characters that cannot be seen'
    : 'Make it shorter, and leave out characters that cannot be seen'
}

function between({ least, most }: { least: number; most: number }): string {
  if (most < Infinity) return ` from ${shownCount(least)} to ${shownCount(most)}`
  return least > -Infinity ? `, ${shownCount(least)} or more` : ''
}
