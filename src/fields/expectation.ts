/**
 * What a value has to be, in parts, beside the API's sentence about it ('Expected …'): pages make their own sentences
 * of the parts, which name no field and no type.
 */
export type Expectation =
  /** A number of characters, on one line or on several. */
  | { is: 'text'; least: number; most: number; lines: 'one' | 'some' }
  | { is: 'number'; least: number; most: number }
  | { is: 'list'; least: number; most: number }
  /** One of the offered choices. */
  | { is: 'choice' }
  /** Written in a form of its own: `a` is its name, `such` an example. */
  | { is: 'form'; a: string; such: string }
  /** Of so many bytes at most, as JSON. */
  | { is: 'bytes'; most: number }

/** A text on one line. */
export const aLine = (least: number, most: number): Expectation => ({
  is: 'text',
  least,
  most,
  lines: 'one',
})

/** A text that may have several lines. */
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
  /** What it has to be; undefined if only the API's sentence says it. */
  wanted: Expectation | undefined
  /** Nothing was given, or only blanks. */
  isMissing: boolean
  /** The number of characters or items of the given text or list. */
  length: number | undefined
}
