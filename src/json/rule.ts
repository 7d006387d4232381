import { define, type Struct } from 'superstruct'

/** The type of a value that fits a condition; `expected` ends the sentence 'Expected …' of its failure. */
export const rule = <T>(expected: string, holds: (value: unknown) => boolean): Struct<T, null> =>
  define<T>(expected, (value) => holds(value) || `Expected ${expected}`)
