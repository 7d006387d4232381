import { type Setting, settingName, type Values } from '../../config/index.js'
import { isTable } from '../../toml/index.js'

/** Sentences for the operator: one for each thing that is wrong in a file. */
export type Problems = string[]
/** A table as it was written. */
export type Given = Readonly<Record<string, unknown>>

/** The keys that a table may have. */
export type Settings = Readonly<Record<string, Setting<unknown>>>

/**
 * The values of the keys that are given, and of no others. A key that no setting has is a problem; `others` are keys
 * that the caller reads by itself, named in that problem among the known ones.
 */
export function readFields<S extends Settings>(
  settings: S,
  given: Given,
  place: string,
  problems: Problems,
  others: readonly string[] = [],
): Partial<Values<S>> {
  const values: Record<string, unknown> = {}
  const keys = new Map(Object.keys(settings).map((key) => [settingName([key]), key]))
  for (const [key, value] of Object.entries(given)) {
    const setting = settings[keys.get(key) ?? '']
    if (setting === undefined) {
      const known = [...keys.keys(), ...others].join(', ')
      problems.push(`${place}: ${key}: no such key; known: ${known}`)
      continue
    }
    const result = setting.read(value)
    if ('value' in result) values[keys.get(key) ?? ''] = result.value
    else problems.push(`${place}: ${key}: ${shown(value)} given, expected ${result.expected}`)
  }
  return values as Partial<Values<S>>
}

/** The fields of what should be a table. */
export function tableOf(given: unknown, place: string, problems: Problems): Given {
  if (given === undefined) return {}
  if (isTable(given)) return { ...given }
  problems.push(`${place}: ${shown(given)} given, expected a table`)
  return {}
}

/** A value as messages quote it. */
export const shown = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 80)
