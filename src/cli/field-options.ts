import { Option } from 'commander'
import type { Field, Fields, Schema } from '../fields/index.js'
import { readBy } from './option-values.js'

/**
 * The options that give an operation the fields of its query: the contract describes and checks them, so that a
 * command and a client are told the same. `flags`: options whose name differs from the field's, as `--by <groups>`.
 */
export const fieldOptions = (fields: Fields, flags: Readonly<Record<string, string>> = {}) =>
  Object.entries(fields).map(([name, given]) =>
    fieldOption(
      flags[name] ?? `${flagOf(name)} <${placeholderOf(name, given.schema)}>`,
      given,
      fields,
    ),
  )

/** One of them. */
export function fieldOption(flag: string, given: Field<unknown>, among: Fields = {}): Option {
  const option = new Option(flag, aboutOf(given.schema, among))
  const { enum: choices } = given.schema
  return Array.isArray(choices)
    ? option.choices(choices.map(String))
    : option.argParser(readBy(given))
}

/** `createdAfter` as `--created-after`. */
const flagOf = (name: string) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

const valuesByFormat: Readonly<Record<string, string>> = {
  uuid: 'id',
  'date-time': 'time',
  date: 'day',
}

/** What stands for the value in help. */
function placeholderOf(name: string, { type, format }: Schema): string {
  if (typeof format === 'string' && format in valuesByFormat) return valuesByFormat[format] ?? name
  return type === 'integer' ? 'count' : flagOf(name).slice(2)
}

/**
 * The contract's sentence in the form of help: other fields are options here, and code has no
 * marks.
 */
function aboutOf({ description, default: usual }: Schema, among: Fields): string {
  const more = usual === undefined ? '' : ` (default: ${usual})`
  const words = String(description ?? '').replaceAll(/`([^`]+)`/g, (_, code: string) =>
    Object.hasOwn(among, code) ? flagOf(code) : code,
  )
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}${more}`
}
