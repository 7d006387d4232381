import type { Document } from '../../openapi/index.js'
import type { Html } from '../shell/html.js'
import { markdown } from './markdown.js'

/** A row of the table of fields. */
export interface SchemaField {
  /** Its full name, with the fields around it: `attachments[].filename`. */
  name: string
  type: string
  required: boolean
  description: Html
}

/** The part of JSON Schema that `src/openapi` uses. */
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

// Nobody reads deeper and longer tables; the document itself has everything.
const maxDepth = 3
const maxFields = 80

/** The fields of a body, each in a row; an object's fields follow the object. */
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

/** A field that may be null has its description in the other alternative. */
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
  // Only null is left. Callers drop it from a list of types, as a field that is null counts as absent.
  if (types.length === 0) return 'null'
  if (types.includes('array') && one.items !== undefined)
    return `array of ${typeOf(document, one.items)}`
  return one.format === undefined ? types.join(' or ') : `${types.join(' or ')} (${one.format})`
}

/** The object, or the list's items, that a schema describes or allows, if that has fields. */
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

/** Whether a schema is a list or allows one. */
function isList(document: Document, schema: JsonSchema): boolean {
  const one = resolved(document, schema)
  return (
    one.items !== undefined || (one.oneOf ?? one.anyOf ?? []).some((each) => isList(document, each))
  )
}

/**
 * The schema that a `$ref` names. A description beside the `$ref` is more specific to this place,
 * and wins.
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
