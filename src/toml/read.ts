import { readFileSync } from 'node:fs'
import { parse, stringify, TomlError } from 'smol-toml'
import { messageOf, OperatorError } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'

/** The values of a table, by their keys. */
export type Table = Record<string, unknown>

/** The text of a file. Throws an `OperatorError` where it cannot be read; `what` names it: 'the plans'. */
export function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(`Cannot read ${what} ${file}: ${messageOf(error)}`)
  }
}

/**
 * The content of a text; `file` is where it comes from or will be written. Throws an `OperatorError` for anything
 * that is not TOML.
 */
export function parseToml(content: string, file: string): Table {
  try {
    return parse(content)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new OperatorError(`${file} is not valid TOML: ${error.message}`)
  }
}

/** The text of a file that says this. */
export const writeToml = (table: Table): string => stringify(table)

export const isTable = (value: unknown): value is Table => isJsonObject(value)
