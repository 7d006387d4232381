import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { messageOf, OperatorError } from '../errors/index.js'

/** A file, or stdin for `-`. */
export function readInput(file: string): string {
  const bytes = readFileSync(file === '-' ? 0 : file)
  if (!isUtf8(bytes)) throw new OperatorError(`${file} is not UTF-8 text`)
  return bytes.toString('utf8')
}

/** The variables of `--vars` and then of each `--var name=value`, whose values are strings. */
export function readVariables(options: { var?: string[]; vars?: string }): Record<string, unknown> {
  const variables = options.vars === undefined ? {} : jsonObject(options.vars)
  for (const pair of options.var ?? []) {
    const at = pair.indexOf('=')
    if (at < 1) throw new OperatorError(`--var is name=value, not "${pair}"`)
    variables[pair.slice(0, at)] = pair.slice(at + 1)
  }
  return variables
}

export function versionNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a number from 1 on.')
  return Number(text)
}

function jsonObject(file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(readInput(file))
  } catch (error) {
    if (error instanceof SyntaxError) throw new OperatorError(`${file}: ${messageOf(error)}`)
    throw error
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new OperatorError(`${file} has variables as a JSON object: {"name": "Ada"}`)
  }
  return { ...value }
}
