import {
  isTable,
  noFile,
  type OperatorFile,
  openFile,
  quoted,
  refuseOthers,
  wholeFile,
} from '../toml/index.js'
import { isSetting, type Section, type Setting, type Values } from './settings.js'

/**
 * Where settings are read from. The environment is passed in, and not taken from the process, for the sake of tests.
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
  const file = fileOf(source)
  const values = readSection(section, file.content, [], { file, env: source.env })
  file.refuseBad('Bad configuration')
  return values as Values<S>
}

/** Reads only the tables of `section`, for a command that does not need the other settings: those may be wrong. */
export function readPart<S extends Section>(section: S, source: ConfigSource): Values<S> {
  const file = fileOf(source)
  const named = Object.keys(section).filter((name) => Object.hasOwn(file.content, name))
  const content = Object.fromEntries(named.map((name) => [name, file.content[name]]))
  const values = readSection(section, content, [], { file, env: source.env })
  file.refuseBad('Bad configuration')
  return values as Values<S>
}

const fileOf = ({ file, text }: ConfigSource): OperatorFile =>
  file === undefined ? noFile('the environment') : openFile(file, 'the configuration', text)

/** `heloName` is written `helo_name` in the file. */
export const settingName = (path: readonly string[]) =>
  path.map((part) => part.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)).join('.')

/** `POSTHORN_HTTP_PRIVATE_PORT` for `http.private.port`. */
export const environmentName = (path: readonly string[]) =>
  `POSTHORN_${settingName(path).replaceAll(/[.-]/g, '_').toUpperCase()}`

/** The sources, with the environment on top. */
interface Opened {
  file: OperatorFile
  env: ConfigSource['env']
}

/**
 * Reads all settings below `path`; anything else that stands there is a problem, as a misspelt name would have no
 * effect.
 */
function readSection(
  section: Section,
  given: Record<string, unknown>,
  path: string[],
  source: Opened,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const keys = [...path].map((name) => settingName([name]))
  const { file } = source
  for (const [name, entry] of Object.entries(section)) {
    const here = [...path, name]
    const key = settingName([name])
    const value = given[key]
    if (isSetting(entry)) {
      values[name] = readSetting(entry, value, here, source)
    } else {
      const isWrong = value !== undefined && !isTable(value)
      if (isWrong)
        file.problem(
          [...keys, key],
          `${settingName(here)}: expected a table [${settingName(here)}]`,
        )
      values[name] = readSection(entry, isTable(value) ? value : {}, here, source)
    }
  }
  const known = Object.keys(section).map((name) => settingName([name]))
  refuseOthers({ ...wholeFile(file), path: keys }, given, known, 'setting')
  return values
}

/**
 * One setting: from the environment, or else the file, or else the default. A wrong value is noted in the file's
 * problems, so that all are told at once.
 */
function readSetting(
  setting: Setting<unknown>,
  fromFile: unknown,
  path: string[],
  { file, env }: Opened,
): unknown {
  const variable = environmentName(path)
  const fromEnv = env[variable]
  const given = fromEnv ?? fromFile
  if (given === undefined) return setting.fallback
  const result = setting.read(given)
  if ('value' in result) return result.value
  // Some values must not be shown, as they may contain a password.
  const shown = result.given ?? quoted(given)
  const name = fromEnv === undefined ? settingName(path) : `${variable} (${settingName(path)})`
  // A value from the environment has no line in the file.
  const where = fromEnv === undefined ? path.map((part) => settingName([part])) : []
  file.problem(where, `${name}: ${shown} given, expected ${result.expected}`)
  return setting.fallback
}
