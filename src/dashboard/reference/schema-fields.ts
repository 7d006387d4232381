import type { Document } from '../../openapi/index.js'
import type { Html } from '../shell/html.js'
import { markdown } from './markdown.js'

/** A row of the table of fields. */
export interface SchemaField {
  /** With those that it stands in: `attachments[].filename`. */
  name: string
  type: string
  required: boolean
  description: Html
}

/** What `src/openapi` uses of JSON Schema. */
interface JsonSchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  items?: JsonSchema
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  description?: string
}

// Deeper and longer tables are read by nobody; the document itself has all of it.
const maxDepth = 3
const maxFields = 80

/** The fields of a body, each in a row: those of objects within it follow the field that has them. */
export function fieldsOf(document: Document, schema: object): SchemaField[] {
  const fields: SchemaField[] = []
  const walk = (one: JsonSchema, prefix: string, depth: number) => {
    const { properties = {}, required = [] } = withFields(document, one) ?? {}
    for (const [name, property] of Object.entries(properties)) {
      if (fields.length === maxFields) return
      fields.push({
        name: prefix + name,
        type: typeOf(document, property),
        required: required.includes(name),
        description: markdown(descriptionOf(document, property)),
      })
      const inner = withFields(document, property)
      if (inner !== undefined && depth < maxDepth) {
        walk(inner, `${prefix}${name}${isList(document, property) ? '[]' : ''}.`, depth + 1)
      }
    }
  }
  walk(schema as JsonSchema, '', 1)
  return fields
}

/** A field that may be null too has its description within the other alternative. */
function descriptionOf(document: Document, schema: JsonSchema): string {
  const one = resolved(document, schema)
  if (one.description !== undefined) return one.description
  const inner = (one.oneOf ?? one.anyOf ?? []).map((each) => descriptionOf(document, each))
  return inner.find((text) => text !== '') ?? ''
}

/** What a value may be, in a few words. */
export function typeOf(document: Document, schema: object): string {
  const one = resolved(document, schema as JsonSchema)
  const some = one.oneOf ?? one.anyOf
  if (one.const !== undefined) return JSON.stringify(one.const)
  if (one.enum !== undefined) return one.enum.filter((value) => value !== null).join(', ')
  if (some !== undefined) {
    const types = some.map((each) => typeOf(document, each)).filter((type) => type !== 'null')
    return [...new Set(types)].join(' or ')
  }
  const types = [one.type ?? 'any'].flat().filter((type) => type !== 'null')
  // Null alone: whoever lists the types leaves it out, as a field that is null is as if it were absent.
  if (types.length === 0) return 'null'
  if (types.includes('array') && one.items !== undefined)
    return `array of ${typeOf(document, one.items)}`
  return one.format === undefined ? types.join(' or ') : `${types.join(' or ')} (${one.format})`
}

/** The object, or the items of the list, that a schema is or may be, if that has fields. */
function withFields(document: Document, schema: JsonSchema): JsonSchema | undefined {
  const one = resolved(document, schema)
  if (one.properties !== undefined) return one
  if (one.items !== undefined) return withFields(document, one.items)
  for (const each of one.oneOf ?? one.anyOf ?? []) {
    const found = withFields(document, each)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether a schema is, or may be, a list. */
function isList(document: Document, schema: JsonSchema): boolean {
  const one = resolved(document, schema)
  return (
    one.items !== undefined || (one.oneOf ?? one.anyOf ?? []).some((each) => isList(document, each))
  )
}

/**
 * The schema that a `$ref` names. A description beside the `$ref` says more of this place and wins.
 */
function resolved(document: Document, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split('/').at(-1)
  if (name === undefined) return schema
  const found = document.components.schemas?.[name] as JsonSchema | undefined
  return {
    ...resolved(document, found ?? {}),
    ...(schema.description && { description: schema.description }),
  }
}
