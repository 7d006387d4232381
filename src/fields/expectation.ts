/**
 * What a value has to be, in parts, beside the sentence that the API has of it ('Expected …'): pages make sentences of their
 * own of these, in which no field and no type has a name.
 */
export type Expectation =
  /** So many characters, on one line or on several. */
  | { is: 'text'; least: number; most: number; lines: 'one' | 'some' }
  | { is: 'number'; least: number; most: number }
  | { is: 'list'; least: number; most: number }
  /** One of those that are offered. */
  | { is: 'choice' }
  /** Written in a form of its own: `a` thing, `such` as this one. */
  | { is: 'form'; a: string; such: string }

/** A text on one line. */
export const aLine = (least: number, most: number): Expectation => ({
  is: 'text',
  least,
  most,
  lines: 'one',
})

/** A text that may have lines. */
export const someLines = (least: number, most: number): Expectation => ({
  is: 'text',
  least,
  most,
  lines: 'some',
})

/** Something that is written in a form of its own, with an example. */
export const suchAs = (a: string, such: string): Expectation => ({ is: 'form', a, such })

/** The address of somebody. */
export const anAddress: Expectation = suchAs('an address', 'ann@example.org')

/** What is wrong with one value, in parts. */
export interface Misfit {
  /** What it has to be; undefined where only the API's sentence says it. */
  wanted: Expectation | undefined
  /** Nothing came, or nothing but blanks. */
  isMissing: boolean
  /** How many characters or items came, of a text or a list. */
  length: number | undefined
}
