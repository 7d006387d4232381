import { isIP } from 'node:net'
import {
  type Field,
  parsed,
  queryWhole,
  type Reading,
  reading,
  share,
  span,
  spanOrForever,
  spans,
  textsWritten,
  textThat,
  trueOrFalse,
  oneOf as wordOf,
  writtenSpan,
} from '../fields/index.js'

/**
 * The building blocks of the configuration. A setting is a field, which reads a TOML value or the text of an
 * environment variable, with a default. Pure; `sections.ts` has the settings themselves.
 */
export interface Setting<T> {
  readonly kind: 'setting'
  readonly fallback: T
  /** Returns the value, or what was expected instead; `given` is shown in place of a value that must not be shown. */
  readonly read: (value: unknown) => Reading<T> & { readonly given?: string }
  /** The value as one writes it in the file, where that differs from the value itself. */
  write?(value: T): unknown
}

/** Settings by name; a section within it is a table of the file. */
export interface Section {
  readonly [name: string]: Setting<unknown> | Section
}

/** Whether an entry of a section is a setting; otherwise it is a table of the file. */
export const isSetting = (entry: Setting<unknown> | Section): entry is Setting<unknown> =>
  entry.kind === 'setting'

/** The plain object that a section of settings is read into. */
export type Values<S> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : Values<S[K]>
}

/** A setting of a field. `write`: its value as one writes it in the file. */
export function setting<T>(
  fallback: T,
  field: Field<T>,
  write?: (value: T) => unknown,
): Setting<T> {
  const read = (value: unknown) => reading(value, field)
  return { kind: 'setting', fallback, read, ...(write && { write }) }
}

/** A setting whose field also reads the default. */
const written = <T>(
  fallback: unknown,
  field: Field<T>,
  write?: (value: T) => unknown,
): Setting<T> => {
  const usual = reading(fallback, field)
  if ('expected' in usual) throw new Error(`${fallback} is not ${usual.expected}`)
  return setting(usual.value, field, write)
}

/** A text that fits `pattern`; `expected` says in a message what that is. */
export const text = (
  fallback: string,
  { pattern = /^/, expected = 'a text' }: { pattern?: RegExp; expected?: string } = {},
) =>
  setting(
    fallback,
    textThat(expected, (value) => pattern.test(value), {}),
  )

/** A whole number from `min` to `max`; in an environment variable its digits. */
export const integer = (fallback: number, min: number, max: number) =>
  setting(fallback, queryWhole(min, max, ''))

/** A share such as `"0.5%"`, above 0; read into millionths. */
export const percentage = (fallback: string) =>
  written(fallback, share(fallback), (value) => `${value / 10_000}%`)

/** 0 lets the system choose a free port. */
export const port = (fallback: number) => integer(fallback, 0, 65_535)

/** True or false. */
export const flag = (fallback: boolean) => setting(fallback, trueOrFalse)

/** One of some words. */
export const oneOf = <const T extends string>(fallback: NoInfer<T>, choices: readonly T[]) =>
  setting<T>(fallback, wordOf(choices))

/** A list of texts; in an environment variable separated by commas. */
export const list = (
  fallback: readonly string[],
  { each, expected }: { each?: (item: string) => boolean; expected?: string } = {},
) => setting(fallback, textsWritten(expected, each))

/**
 * A program and its arguments, which no shell takes apart: a command line in one text would be taken for the name of a
 * program.
 */
export function command(
  each?: (item: string) => boolean,
  expected = 'a command and its arguments, each a text of its own: ["cp", "{file}", "/mnt"]',
): Setting<readonly string[]> {
  const words = setting<readonly string[]>([], textsWritten(expected, each))
  return {
    ...words,
    read: (value) => {
      const result = words.read(value)
      const given = 'value' in result ? result.value : []
      // A text that begins with a slash is the path of a program, which may have blanks.
      const isLine = given.length === 1 && /^[^/].*\s|\s[-{]/.test(given[0]?.trim() ?? '')
      // A command line may have a password in it.
      return isLine ? { given: 'a command line in one text', expected } : result
    },
  }
}

/** A duration such as `"30s"`, `"5m"`, `"2h"`, `"5d"`; read into milliseconds. */
export const duration = (fallback: string, min = '0s', max = '400d') =>
  written(fallback, span(min, max, fallback), writtenSpan)

/** How long something is kept: a duration of at least `min`, or `"forever"`, which is read into Infinity. */
export const age = (fallback: string, min = '0d') =>
  written(fallback, spanOrForever(min, '36500d'), writtenSpan)

/** A list of durations, e.g. a retry schedule. */
export const durations = (fallback: readonly string[], min: string) =>
  written(fallback, spans(min), (items) => items.map(writtenSpan))

/** A table that its owner checks, such as static DNS records. */
export const table = <T>(fallback: T, read: (value: unknown) => T | undefined, expected: string) =>
  setting<T>(fallback, parsed(expected, read))

/** An address, or a range such as `10.0.0.0/8`. */
export function isNetwork(item: string): boolean {
  const [address = '', bits, ...more] = item.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
