import { readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { isTable } from '../toml/index.js'
import { type ConfigSource, environmentName, settingName } from './read.js'
import type { Section, Setting } from './settings.js'

/** A setting as it is in force, and where it comes from. */
export interface SettingInForce {
  /** `http.private.port`. */
  name: string
  value: unknown
  /** The value as one writes it in the file: `"5%"` of 50,000 millionths. */
  written: unknown
  /** A line of the file, from 1 on; or the name of a variable; where there is neither it is the default. */
  line?: number
  variable?: string
}

/** All settings of `section` with the `values` that were read from `source`, in its order. */
export function settingsInForce(
  section: Section,
  values: Readonly<Record<string, unknown>>,
  { file, env }: ConfigSource,
): SettingInForce[] {
  const lines = file === undefined ? [] : readFileSync(file, 'utf8').split('\n')
  const paths = pathsOf(section)
  const lineOf = linesOf(lines, paths.map(settingName))
  return paths.map((path) => {
    const name = settingName(path)
    const variable = environmentName(path)
    const line = lineOf.get(name)
    const value = valueAt(values, path)
    return {
      name,
      value,
      written: writtenAs(section, path, value),
      ...(env[variable] !== undefined ? { variable } : line === undefined ? {} : { line }),
    }
  })
}

/** Every setting, by the names that lead to it. */
const pathsOf = (section: Section, path: readonly string[] = []): (readonly string[])[] =>
  Object.entries(section).flatMap(([name, entry]) =>
    entry.kind === 'setting' ? [[...path, name]] : pathsOf(entry as Section, [...path, name]),
  )

/** The value in the words of the file: milliseconds as `5m`, millionths as `5%`. */
function writtenAs(section: Section, path: readonly string[], value: unknown): unknown {
  const found = path.reduce<Section[string]>((at, key) => (at as Section)[key] ?? at, section)
  return (found as Setting<unknown>).write?.(value) ?? value
}

/**
 * Where each name is set. The parser tells no lines, so this reads more and more of the file: names that are new after
 * some lines were set in these. A file has some hundred lines, which takes a tenth of a second.
 */
function linesOf(lines: readonly string[], names: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  let after = 0
  for (let end = 1; end <= lines.length; end++) {
    const table = parsed(lines.slice(0, end).join('\n'))
    // The text ends in the middle of a list, or of a text of several lines.
    if (table === undefined) continue
    for (const name of names) {
      if (!found.has(name) && valueAt(table, name.split('.')) !== undefined) {
        found.set(name, after + 1)
      }
    }
    after = end
  }
  return found
}

/** Undefined while the text is no whole TOML. */
function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof TomlError) return undefined
    throw error
  }
}

/** The value that the names lead to; undefined where there is none. */
const valueAt = (table: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), table)

/** A setting in force, as it may be shown: secrets are hidden. */
export interface ShownSetting {
  name: string
  value: unknown
  /** The value as it would stand in the file. */
  text: string
  source: 'environment' | 'file' | 'default'
  /** The variable, the line of the file, or `default`. */
  from: string
  line: number | null
  variable: string | null
}

/** What may be shown of a setting in force. */
export function shownSetting({ name, line, variable, ...given }: SettingInForce): ShownSetting {
  const [value, written] = [hidden(given.value), hidden(given.written)]
  return {
    name,
    value,
    line: line ?? null,
    variable: variable ?? null,
    text: typeof written === 'string' ? `"${written}"` : JSON.stringify(written),
    source: variable !== undefined ? 'environment' : line !== undefined ? 'file' : 'default',
    from: variable ?? (line === undefined ? 'default' : `line ${line}`),
  }
}

/** `https://user:word@host`, `--token=word`, `Authorization: Bearer word`. */
function hidden(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'forever'
  if (typeof value === 'string') {
    return value
      .replace(/:\/\/[^/@\s]+@/g, '://…@')
      .replace(/((?:password|passphrase|secret|token|key)[=:]\s*)\S+/gi, '$1…')
      .replace(/(Bearer\s+)\S+/gi, '$1…')
  }
  if (Array.isArray(value)) return value.map(hidden)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one)]))
}
