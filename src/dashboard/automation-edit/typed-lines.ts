import { isJsonObject, type Json } from '../../json/index.js'

/* Values with names, one in each line: `plan = pro`. */

/** `{{ trigger.town }}` is that field, and digits are a number. Anything in quotes is a text, and so is all else. */
export function valueTyped(typed: string): Json | { var: string } {
  const [, path] = /^\{\{\s*([\w.-]+)\s*\}\}$/.exec(typed) ?? []
  if (path !== undefined) return { var: path }
  if (!/^(-?\d+(\.\d+)?|true|false|null|".*"|\[.*\]|\{.*\})$/.test(typed)) return typed
  try {
    return JSON.parse(typed) as Json
  } catch {
    return typed
  }
}

/** A value as it is typed. */
export function typedValue(value: unknown): string {
  if (isJsonObject(value) && typeof value.var === 'string') return `{{ ${value.var} }}`
  if (typeof value === 'string' && isOneLine(value) && valueTyped(value) === value) return value
  return JSON.stringify(value)
}

// Only such a text survives a line unchanged; any other is written in quotes.
const isOneLine = (value: string) => value === value.trim() && !/[\r\n]/.test(value)

type Values = Record<string, Json | { var: string }>

// No field has this name. A draft keeps unreadable lines under it as they are typed, and the checks of steps refuse it.
const noName = ''

// A line that removes a field from a contact.
const removal = /^\s*remove\s+([^=\s][^=]*?)\s*$/i

/** The values in lines such as `code = SPRING`, or `remove code`. */
export function valuesIn(typed: string): Values {
  const values: Values = {}
  const strays: string[] = []
  for (const line of typed.split(/\r?\n/)) {
    const [, name, value = ''] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    const gone = removal.exec(line)?.[1]
    if (gone !== undefined) values[gone] = null
    else if (name !== undefined) values[name] = valueTyped(value)
    else if (line.trim() !== '') strays.push(line.trim())
  }
  if (strays.length > 0) values[noName] = strays.join('\n')
  return values
}

/** The values as lines. */
export const linesOf = (values: object): string =>
  Object.entries(values)
    .map(([name, value]) => {
      if (name === noName) return String(value)
      return value === null ? `remove ${name}` : `${name} = ${typedValue(value)}`
    })
    .join('\n')

/** Headers in lines such as `X-Shop: spring`. */
export const headersIn = (typed: string): Record<string, string> =>
  Object.fromEntries(linesIn(typed, /^\s*([^:]+?)\s*(?::\s*(.*?)\s*)?$/))

export const headerLines = (headers: object): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

const linesIn = (typed: string, form: RegExp): [name: string, value: string][] =>
  typed.split('\n').flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = form.exec(line) ?? []
    return name === '' ? [] : [[name, value]]
  })
