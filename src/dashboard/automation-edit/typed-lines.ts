import { isJsonObject, type Json } from '../../json/index.js'

/* Values with names, a line each: `plan = pro`. */

/** `{{ trigger.town }}` is that field, a number a number, what stands in quotes a text, and all else too. */
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

/** The same as it is typed. */
export function typedValue(value: unknown): string {
  if (isJsonObject(value) && typeof value.var === 'string') return `{{ ${value.var} }}`
  if (typeof value === 'string' && isOneLine(value) && valueTyped(value) === value) return value
  return JSON.stringify(value)
}

// Of a line only this much comes back; all else is written in quotes.
const isOneLine = (value: string) => value === value.trim() && !/[\r\n]/.test(value)

type Values = Record<string, Json | { var: string }>

// No field has this name: under it a draft keeps the lines that are none, as they are typed, and the checks of steps refuse it.
const noName = ''

// A line that takes a field away from a contact.
const removal = /^\s*remove\s+([^=\s][^=]*?)\s*$/i

/** What stands in lines such as `code = SPRING`, or `remove code`. */
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

/** The same as it is typed. */
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
