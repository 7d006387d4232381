import { readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { messageOf, OperatorError } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'

export type Table = Record<string, unknown>

/**
 * What a file of the operator's says. Throws an `OperatorError` where it cannot be read, or is no TOML;
 * `what` names it in the first case: 'the plans'.
 */
export function readToml(file: string, what: string): Table {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(`Cannot read ${what} ${file}: ${messageOf(error)}`)
  }
  return parseToml(content, file)
}

/** What a text says; `file` is where it is from, or is to be written. */
export function parseToml(content: string, file: string): Table {
  try {
    return parse(content)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new OperatorError(`${file} is not valid TOML: ${error.message}`)
  }
}

export const isTable = (value: unknown): value is Table => isJsonObject(value)
