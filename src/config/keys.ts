import { parsed } from '../fields/index.js'
import { refuseOthers, type Table, type TomlPlace, wrongValue } from '../toml/index.js'
import { settingName } from './read.js'
import { type Setting, setting, type Values } from './settings.js'

/** The keys that a table of a file may have. */
export type Settings = Readonly<Record<string, Setting<unknown>>>

/**
 * The values of the keys that are given. Any other key is a fault, except those in `others`, which the caller reads
 * itself.
 */
export function readKeys<S extends Settings>(
  settings: S,
  given: Table,
  place: TomlPlace,
  others: readonly string[] = [],
): Partial<Values<S>> {
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const key = settingName([name])
    if (given[key] === undefined) continue
    const result = setting.read(given[key])
    if ('value' in result) values[name] = result.value
    else wrongValue(place, key, given[key], result.expected, result.given)
  }
  const known = Object.keys(settings).map((name) => settingName([name]))
  refuseOthers(place, given, [...known, ...others])
  return values as Partial<Values<S>>
}

/**
 * The values of all keys, where none has a usual value: a setting says itself whether it may be left out (`orNothing`).
 */
export function readAllKeys<S extends Settings>(
  settings: S,
  given: Table,
  place: TomlPlace,
): Values<S> {
  const all = Object.keys(settings).map((name) => settingName([name]))
  const known = Object.fromEntries(Object.entries(given).filter(([key]) => all.includes(key)))
  const values = Object.entries(settings).map(([name, { read, fallback }]) => {
    const key = settingName([name])
    const result = read(known[key])
    if ('value' in result) return [name, result.value]
    wrongValue(place, key, known[key], result.expected, result.given)
    return [name, fallback]
  })
  refuseOthers(place, given, all)
  return Object.fromEntries(values)
}

/** A list of texts, which in a file is a list: only an environment variable has it as one text with commas. */
export const texts = (each: (item: string) => boolean, expected: string) =>
  setting<readonly string[]>(
    [],
    parsed(expected, (given) =>
      Array.isArray(given) && given.every((item) => typeof item === 'string' && each(item))
        ? given
        : undefined,
    ),
  )

/** A setting that may be left out; `usual` is its value then. */
export const orNothing = <T, U>({ read, ...setting }: Setting<T>, usual: U): Setting<T | U> => ({
  kind: setting.kind,
  fallback: usual,
  read(value) {
    if (value === undefined) return { value: usual }
    const result = read(value)
    return 'value' in result ? result : { ...result, expected: `${result.expected}, or nothing` }
  },
})
