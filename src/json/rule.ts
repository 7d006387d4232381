import { define, type Struct } from 'superstruct'

// A file of its own, so that a bundle of what only looks at JSON, as settings do, goes without superstruct.
/** The type of a value that fits a condition; `expected` ends the sentence 'Expected …' of its failure. */
export const rule = <T>(expected: string, holds: (value: unknown) => boolean): Struct<T, null> =>
  define<T>(expected, (value) => holds(value) || `Expected ${expected}`)
