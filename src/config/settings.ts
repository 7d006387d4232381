import { isIP } from 'node:net'

/**
 * The building blocks of the configuration: a setting knows its default and how to read a TOML
 * value or the text of an environment variable. Pure; `index.ts` has the settings themselves.
 */
export interface Setting<T> {
  readonly kind: 'setting'
  readonly fallback: T
  /** Returns the value, or what was expected instead; `given` is shown in place of what must not be. */
  readonly read: (value: unknown) => { value: T } | { expected: string; given?: string }
  /** The value as one writes it in the file, where that is not the value itself. */
  write?(value: T): unknown
}

/** Settings by name; a section within it is a table of the file. */
export interface Section {
  readonly [name: string]: Setting<unknown> | Section
}

/** Whether an entry of a section is a setting; else it is a table of the file. */
export const isSetting = (entry: Setting<unknown> | Section): entry is Setting<unknown> =>
  entry.kind === 'setting'

/** The plain object that a section of settings is read into. */
export type Values<S> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : Values<S[K]>
}

/** A text that fits `pattern`; `expected` says in a message what that is. */
export function text(
  fallback: string,
  options: { pattern?: RegExp; expected?: string } = {},
): Setting<string> {
  const expected = options.expected ?? 'a text'
  return setting<string>(fallback, (value) =>
    typeof value === 'string' && (options.pattern?.test(value) ?? true) ? { value } : { expected },
  )
}

/** A whole number from `min` to `max`; in an environment variable its digits. */
export function integer(fallback: number, min: number, max: number): Setting<number> {
  return setting<number>(fallback, (value) => {
    const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
    return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max
      ? { value: number }
      : { expected: `a whole number from ${min} to ${max}` }
  })
}

/** A share such as `"0.5%"`, above 0; read into millionths, so that it compares without rounding. */
export function percentage(fallback: string): Setting<number> {
  return setting<number>(
    millionths(fallback) ?? 0,
    (value) => {
      const share = typeof value === 'string' ? millionths(value) : undefined
      return share === undefined
        ? { expected: `a percentage from 0.0001% to 100%, such as "${fallback}"` }
        : { value: share }
    },
    (share) => `${share / 10_000}%`,
  )
}

/** `0.5%` is 5,000; undefined for what is no percentage, and for 0. */
function millionths(value: string): number | undefined {
  const match = /^(\d{1,3})(?:\.(\d{1,4}))?%$/.exec(value)
  const share = Number(match?.[1]) * 10_000 + Number((match?.[2] ?? '').padEnd(4, '0'))
  return share > 0 && share <= 1_000_000 ? share : undefined
}

/** 0 lets the system choose a free one. */
export const port = (fallback: number) => integer(fallback, 0, 65_535)

/** True or false; `yes` and `1` are refused rather than guessed. */
export function flag(fallback: boolean): Setting<boolean> {
  return setting<boolean>(fallback, (value) => {
    if (value === true || value === 'true') return { value: true }
    if (value === false || value === 'false') return { value: false }
    return { expected: 'true or false' }
  })
}

/** One of some words. */
export function oneOf<const T extends string>(
  fallback: NoInfer<T>,
  choices: readonly T[],
): Setting<T> {
  return setting<T>(fallback, (value) => {
    const chosen = choices.find((choice) => choice === value)
    return chosen === undefined
      ? { expected: `one of ${choices.map((c) => `"${c}"`).join(', ')}` }
      : { value: chosen }
  })
}

/** A list of texts; in an environment variable separated by commas. */
export function list(
  fallback: readonly string[],
  options: { each?: (item: string) => boolean; expected?: string } = {},
) {
  const expected = options.expected ?? 'a list of texts'
  return setting<readonly string[]>(fallback, (value) => {
    const items = typeof value === 'string' ? splitList(value) : value
    return Array.isArray(items) &&
      items.every((item) => typeof item === 'string' && (options.each?.(item) ?? true))
      ? { value: items }
      : { expected }
  })
}

/**
 * A program and its arguments, which no shell takes apart: a command line in one text would be the name of a program
 * that is not there.
 */
export function command(
  each: (item: string) => boolean = () => true,
  expected = 'a command and its arguments, each a text of its own: ["cp", "{file}", "/mnt"]',
): Setting<readonly string[]> {
  const { read } = list([], { each })
  return setting<readonly string[]>([], (value) => {
    const result = read(value)
    const words = 'value' in result ? result.value : undefined
    // The path of a program may have blanks, and begins with a slash then.
    const isLine = words?.length === 1 && /^[^/].*\s|\s[-{]/.test(words[0]?.trim() ?? '')
    // A command line may have a password in it.
    if (isLine) return { given: 'a command line in one text', expected }
    return words === undefined ? { expected } : { value: words }
  })
}

/** A duration such as `"30s"`, `"5m"`, `"2h"`, `"5d"`; read into milliseconds. */
export function duration(fallback: string, min = '0s', max = '400d'): Setting<number> {
  const limits = { min: milliseconds(min) ?? 0, max: milliseconds(max) ?? 0 }
  return setting<number>(
    milliseconds(fallback) ?? 0,
    (value) => {
      const ms = typeof value === 'string' ? milliseconds(value) : undefined
      return ms !== undefined && ms >= limits.min && ms <= limits.max
        ? { value: ms }
        : { expected: `a duration from ${min} to ${max}, such as "${fallback}"` }
    },
    writtenDuration,
  )
}

/** How long something is kept: a duration of at least `min`, or `"forever"`, which is read into Infinity. */
export function age(fallback: string, min = '0d'): Setting<number> {
  const max = '36500d'
  const { read } = duration(min, min, max)
  const readAge: Setting<number>['read'] = (value) => {
    if (value === 'forever') return { value: Number.POSITIVE_INFINITY }
    const result = read(value)
    if ('value' in result) return result
    return { expected: `"forever" or a duration from ${min} to ${max}, such as "30d"` }
  }
  const usual = readAge(fallback)
  return setting('value' in usual ? usual.value : 0, readAge, writtenDuration)
}

/** A list of durations, e.g. a retry schedule. */
export function durations(fallback: readonly string[], min: string) {
  const least = milliseconds(min) ?? 0
  return setting<readonly number[]>(
    fallback.map((item) => milliseconds(item) ?? 0),
    (value) => {
      const items = typeof value === 'string' ? splitList(value) : value
      const parsed = Array.isArray(items)
        ? items.map((item) => (typeof item === 'string' ? milliseconds(item) : undefined))
        : []
      const valid = parsed.filter((ms): ms is number => ms !== undefined && ms >= least)
      return valid.length > 0 && valid.length === parsed.length
        ? { value: valid }
        : { expected: `a list of durations of at least ${min}, such as ["5m", "10m"]` }
    },
    (items) => items.map(writtenDuration),
  )
}

/** A table that its owner checks, such as static DNS records. */
export function table<T>(fallback: T, read: (value: unknown) => T | undefined, expected: string) {
  return setting<T>(fallback, (value) => {
    const parsed = read(value)
    return parsed === undefined ? { expected } : { value: parsed }
  })
}

/** An address, or a range such as `10.0.0.0/8`. */
export function isNetwork(item: string): boolean {
  const [address = '', bits, ...more] = item.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

const unitMs: Record<string, number> = { ms: 1, s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 }

/** `5m` is 300,000; undefined for what is no duration. */
function milliseconds(value: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(value)
  const unit = unitMs[match?.[2] ?? '']
  return unit === undefined ? undefined : Number(match?.[1]) * unit
}

/** `5m`: in the largest unit that it is a whole number of. */
function writtenDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'forever'
  if (ms === 0) return '0s'
  const fitting = Object.entries(unitMs).filter(([, each]) => ms % each === 0)
  const [unit, each] = fitting.at(-1) ?? ['ms', 1]
  return `${ms / each}${unit}`
}

/** A list as an environment variable has it. */
const splitList = (value: string) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** A setting that reads by `read`. */
function setting<T>(
  fallback: T,
  read: Setting<T>['read'],
  write?: Setting<T>['write'],
): Setting<T> {
  return { kind: 'setting', fallback, read, ...(write && { write }) }
}
