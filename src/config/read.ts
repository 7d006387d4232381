import { OperatorError } from '../errors/index.js'
import { isTable, parseToml, readToml, type Table } from '../toml/index.js'
import { isSetting, type Section, type Setting, type Values } from './settings.js'

/**
 * Where settings are read from. The environment is given, and not taken from the process, for
 * tests.
 */
export interface ConfigSource {
  /** Path of the TOML file; without one the defaults and the environment alone. */
  file?: string
  /** What the file is to say, where it is not written yet. */
  text?: string
  env: Readonly<Record<string, string | undefined>>
}

/**
 * Reads `section` from a TOML file with the environment on top (`http.private.port` is
 * `POSTHORN_HTTP_PRIVATE_PORT`). Throws one OperatorError that lists every problem with its name,
 * what was given and what was expected.
 */
export function readConfig<S extends Section>(section: S, source: ConfigSource): Values<S> {
  const problems: string[] = []
  const values = readSection(section, tableIn(source), [], source, problems)
  if (problems.length > 0) {
    const where = source.file ?? 'the environment'
    throw new OperatorError(`Bad configuration (${where}):\n  ${problems.join('\n  ')}`)
  }
  return values as Values<S>
}

function tableIn({ file, text }: ConfigSource): Table {
  if (file === undefined) return {}
  return text === undefined ? readToml(file, 'the configuration') : parseToml(text, file)
}

/** `heloName` is written `helo_name` in the file. */
export const settingName = (path: readonly string[]) =>
  path.map((part) => part.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)).join('.')

/** `POSTHORN_HTTP_PRIVATE_PORT` for `http.private.port`. */
export const environmentName = (path: readonly string[]) =>
  `POSTHORN_${settingName(path).replaceAll(/[.-]/g, '_').toUpperCase()}`

/**
 * Reads all settings below `path`; whatever else stands there is a problem, as a misspelt name
 * would have no effect.
 */
function readSection(
  section: Section,
  given: Record<string, unknown>,
  path: string[],
  source: ConfigSource,
  problems: string[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const known = new Set<string>()
  for (const [name, entry] of Object.entries(section)) {
    const here = [...path, name]
    const key = settingName([name])
    known.add(key)
    const value = given[key]
    if (isSetting(entry)) {
      values[name] = readSetting(entry, value, here, source, problems)
    } else if (value !== undefined && !isTable(value)) {
      problems.push(`${settingName(here)}: expected a table [${settingName(here)}]`)
    } else {
      values[name] = readSection(entry, isTable(value) ? value : {}, here, source, problems)
    }
  }
  for (const key of Object.keys(given)) {
    if (!known.has(key)) {
      problems.push(
        `${settingName([...path, key])}: no such setting; known here: ${[...known].join(', ')}`,
      )
    }
  }
  return values
}

/**
 * One setting: the environment, else the file, else the default. What is wrong joins `problems`, so
 * that all are told at once.
 */
function readSetting(
  setting: Setting<unknown>,
  fromFile: unknown,
  path: string[],
  source: ConfigSource,
  problems: string[],
): unknown {
  const variable = environmentName(path)
  const fromEnv = source.env[variable]
  const given = fromEnv ?? fromFile
  if (given === undefined) return setting.fallback
  const result = setting.read(given)
  if ('value' in result) return result.value
  // Some values must not be shown, as they may have a password in them.
  const shown = result.given ?? JSON.stringify(given)?.slice(0, 80)
  const name = fromEnv === undefined ? settingName(path) : `${variable} (${settingName(path)})`
  problems.push(`${name}: ${shown} given, expected ${result.expected}`)
  return setting.fallback
}
