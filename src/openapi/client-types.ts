import type { Schema } from '../fields/index.js'
import type { Document } from './document.js'
import {
  type DocumentedOperation,
  errorShapes,
  type NamedOperation,
  nameIn,
  operationsOf,
  shapesOf,
} from './documented.js'

/**
 * Whether a type describes what a client sends (`in`) or gets (`out`). Sent values are typed exactly, so that a typo
 * is an error; answers are typed so that fields and values of a newer server break no program.
 */
type Side = 'in' | 'out'

interface Printer {
  side: Side
  /**
   * The name of a schema on this side: a schema that is both sent and answered has two types, `Contact`
   * and `ContactInput`.
   */
  nameOf(name: string): string
}

const heading = `/*
 * Made by bin/made-types from the OpenAPI document at each build: change that, not this.
 * What is sent has closed types, so that a typo is an error; what is answered has open ones, so that
 * a newer server breaks nobody.
 */`

/**
 * The TypeScript source of src/client/types.ts: every schema of the document, its operations by
 * method and path, the error bodies by code, and the version. The same document gives the same text.
 */
export function makeClientTypes(document: Document): string {
  const schemas = document.components.schemas ?? {}
  const operations = operationsOf(document)
  const sent = reached(
    operations.flatMap(({ operation }) => bodyOf(operation)),
    schemas,
  )
  const answered = reached(
    [
      ...operations.flatMap(({ operation }) => shapesOf(operation, () => true)),
      { $ref: '#/components/schemas/WebhookPayload' },
    ],
    schemas,
  )
  const input: Printer = {
    side: 'in',
    nameOf: (name) => (answered.has(name) ? `${name}Input` : name),
  }
  const output: Printer = { side: 'out', nameOf: (name) => name }
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))
  const declared = sorted.flatMap(([name, schema]) => [
    ...(sent.has(name) ? [declaration(input, name, schema)] : []),
    ...(answered.has(name) ? [declaration(output, name, schema)] : []),
  ])
  return `${[
    heading,
    `export const clientVersion = '${(document.info as { version: string }).version}'`,
    ...declared,
    operationTable(operations, input, output),
    errorTable(operations, schemas),
  ].join('\n\n')}\n`
}

const bodyOf = ({ requestBody }: DocumentedOperation): Schema[] =>
  Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)

/** The names of all schemas that these refer to. */
function reached(from: readonly unknown[], schemas: Record<string, Schema>): Set<string> {
  const names = new Set<string>()
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [keyword, inner] of Object.entries(value)) {
      if (keyword !== '$ref') {
        walk(inner)
        continue
      }
      const name = nameIn(String(inner))
      if (names.has(name)) continue
      names.add(name)
      walk(schemas[name])
    }
  }
  walk(from)
  return names
}

/**
 * An interface if possible: editors show its name in errors, while they spell out an alias in full.
 */
function declaration(printer: Printer, name: string, schema: Schema): string {
  const type = print(printer, schema, '')
  const form = type.startsWith('{') && type.endsWith('}') && isPlain(schema) ? 'interface' : 'type'
  const start = `${comment(schema.description, '')}export ${form} ${printer.nameOf(name)}`
  return form === 'interface' ? `${start} ${type}` : `${start} = ${type}`
}

/** Only these can be an interface; unions and types that may be null cannot. */
const isPlain = (schema: Schema) =>
  schema.properties !== undefined &&
  !Array.isArray(schema.type) &&
  alternatives(schema).length === 0

function print(printer: Printer, schema: Schema, indent: string): string {
  if (typeof schema.$ref === 'string') return printer.nameOf(nameIn(schema.$ref))
  if ('const' in schema) return literal(schema.const)
  if (Array.isArray(schema.enum)) {
    // A newer server may answer with another value. `string & {}` allows any text, and editors still offer the known
    // ones.
    const open = printer.side === 'out' ? ['(string & {})'] : []
    return [...schema.enum.map(literal), ...open].join(' | ')
  }
  const choices = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined
  if (choices !== undefined && schema.properties === undefined) {
    return unique(choices.map((one) => print(printer, one, indent))).join(' | ')
  }
  const types = Array.isArray(schema.type) ? (schema.type as string[]) : [String(schema.type)]
  return unique(types.map((type) => printType(printer, schema, type, indent))).join(' | ')
}

function printType(printer: Printer, schema: Schema, type: string, indent: string): string {
  switch (type) {
    case 'null':
      return 'null'
    case 'boolean':
      return 'boolean'
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
      return printer.side === 'in' && schema.format === 'date-time' ? 'string | Date' : 'string'
    case 'array': {
      const item = print(printer, (schema.items ?? {}) as Schema, indent)
      // `(A | B)[]`, as `A | B[]` means something else. An object's braces hold its own unions together.
      const grouped = /[|&]|^readonly /.test(withoutBraces(item)) ? `(${item})` : item
      return printer.side === 'in' ? `readonly ${grouped}[]` : `${grouped}[]`
    }
    case 'object':
      return printObject(printer, schema, indent)
    default:
      return 'unknown'
  }
}

/** A type without its objects: the rest shows whether it needs parentheses. */
function withoutBraces(type: string): string {
  const less = type.replace(/\{[^{}]*\}/g, '')
  return less === type ? type : withoutBraces(less)
}

/**
 * An object without alternatives is its fields. With alternatives (`html` or `template`) it is the fields that all
 * share, and one of some blocks: an alternative's required fields, its optional ones, and as `never` the fields that
 * mark the other alternatives.
 */
function printObject(printer: Printer, schema: Schema, indent: string): string {
  const { properties, additionalProperties } = schema
  if (properties === undefined) {
    if (typeof additionalProperties === 'object') {
      const value = print(printer, additionalProperties as Schema, indent)
      return `Record<string, ${value}>`
    }
    return printer.side === 'in' ? 'object' : 'Record<string, unknown>'
  }
  const all = properties as Record<string, Schema>
  const required = new Set((schema.required as string[] | undefined) ?? [])
  const choices = alternatives(schema)
  const apart = new Set(choices.flatMap(({ names }) => names))
  const common = Object.keys(all).filter((name) => !apart.has(name))
  const fields = (names: readonly string[], needed: (name: string) => boolean, deeper: string) =>
    names.map((name) => field(printer, name, all[name] ?? {}, needed(name), deeper))
  const block = (lines: string[]) => `{\n${lines.join('\n')}\n${indent}}`
  const own = block(fields(common, (name) => required.has(name), `${indent}  `))
  if (choices.length === 0) return own
  const others = choices.map(({ names, key }) => {
    const rest = [...apart].filter((name) => !names.includes(name))
    const never = choices.map((one) => one.key).filter((one) => one !== key)
    return block([
      ...names.map((name) =>
        field(printer, name, withoutNull(all[name] ?? {}), true, `${indent}  `),
      ),
      ...fields(
        rest.filter((name) => !never.includes(name)),
        () => false,
        `${indent}  `,
      ),
      ...never.map((name) => `${indent}  ${name}?: null | undefined`),
    ])
  })
  return `${own} & (${others.join(' | ')})`
}

/**
 * An object that needs one of several sets of fields. The first field of each set excludes the
 * other sets: `html` or `template`, never both.
 */
function alternatives(schema: Schema): { names: string[]; key: string }[] {
  const choices = ((schema.oneOf ?? schema.anyOf) as Schema[] | undefined) ?? []
  return choices.map(({ required }) => {
    const names = required as string[]
    return { names, key: names[0] ?? '' }
  })
}

/** In a request null means absent. A field that chooses an alternative must be there, so it cannot be null. */
function withoutNull(schema: Schema): Schema {
  const { type, anyOf, ...rest } = schema
  if (Array.isArray(anyOf)) {
    return { ...rest, anyOf: anyOf.filter((one: Schema) => one.type !== 'null') }
  }
  const types = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type]
  return { ...rest, type: types.length === 1 ? types[0] : types }
}

function field(printer: Printer, name: string, schema: Schema, needed: boolean, indent: string) {
  // A client may give a Date for every field that is named as a time, even if the schema allows more than RFC 3339.
  const isTime = printer.side === 'in' && /At$/.test(name)
  const type = print(printer, isTime ? { ...schema, format: 'date-time' } : schema, indent)
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
  // A field may be given as undefined, even with `exactOptionalPropertyTypes`.
  const absent = !needed && printer.side === 'in' ? ' | undefined' : ''
  return `${comment(schema.description, indent)}${indent}${key}${needed ? '' : '?'}: ${type}${absent}`
}

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)

const unique = (texts: string[]) => [...new Set(texts)]

/** A comment's end mark inside a description would end the comment, so it is split. */
const comment = (text: unknown, indent: string) =>
  typeof text === 'string'
    ? `${indent}/** ${text.replaceAll('*/', '* /').replace(/\s*\n\s*/g, ' ')} */\n`
    : ''

/**
 * One table of all operations types the client's generic functions: a function for each would be a
 * thousand lines that every program loads.
 */
function operationTable(
  operations: readonly NamedOperation[],
  input: Printer,
  output: Printer,
): string {
  const rows = operations.map(({ key, operation }) => {
    const parameters = operation.parameters ?? []
    const params = parameters.filter((one) => one.in === 'path')
    const query = parameters.filter((one) => one.in === 'query')
    const [body] = Object.entries(operation.requestBody?.content ?? {})
    const answers = shapesOf(operation, (status) => status.startsWith('2'))
    const isForm = body?.[0] === 'multipart/form-data'
    const lines = [
      `id: '${operation.operationId}'`,
      `params: ${inline(params.map(({ name }) => `${name}: string`))}`,
      `query: ${inline(query.map(({ name, schema }) => `${name}?: ${print(input, schema, '')} | undefined`))}`,
      `body: ${body === undefined ? 'undefined' : isForm ? 'FormData' : print(input, body[1].schema, '')}`,
      `answer: ${unique(answers.map((one) => print(output, one, ''))).join(' | ')}`,
    ]
    return `${comment(operation.summary, '  ')}  '${key}': {\n    ${lines.join('\n    ')}\n  }`
  })
  return `/** Every endpoint by its method and path. */\nexport interface Operations {\n${rows.join('\n')}\n}`
}

const inline = (fields: readonly string[]) =>
  fields.length === 0 ? 'Record<never, never>' : `{ ${fields.join('; ')} }`

// Keyed by the code and not by the status: one status has many codes, and programs branch on the
// code.
function errorTable(
  operations: readonly NamedOperation[],
  schemas: Record<string, Schema>,
): string {
  const rows = errorShapes(operations, schemas).map(
    ([code, names]) => `  ${code}: ${names.join(' | ')}`,
  )
  return `/** The bodies that an error can have, by its code. */\nexport interface ErrorBodies {\n${rows.join('\n')}\n}`
}
