import type { Schema } from '../../fields/index.js'
import { nameIn } from '../documented.js'

/** A type that every language writes in its own way. */
export type ValueType = (
  | { is: 'text' | 'time' | 'whole' | 'number' | 'flag' | 'any' }
  | { is: 'words'; words: readonly (string | number | boolean)[] }
  | { is: 'list'; of: ValueType }
  | { is: 'map'; of: ValueType }
  | { is: 'named'; name: string }
  | { is: 'either'; of: readonly ValueType[] }
) & { orNull?: true }

/** A field of an object. */
export interface TypedField {
  name: string
  about: string | undefined
  type: ValueType
  needed: boolean
}

/** Something with a name: an object with fields, or another name for a type. */
export interface Declared {
  name: string
  /** Whether it is sent, and then exact, or answered: there a newer server may have other words. */
  side: 'in' | 'out'
  about: string | undefined
  fields?: readonly TypedField[]
  /**
   * For an object that needs one of several sets of fields: these sets. The first field of each excludes the others.
   */
  choices?: readonly (readonly string[])[]
  is?: ValueType
}

/** A sent type gets a name of its own if the same schema is answered too. */
export interface TypeMaker {
  typeOf(schema: Schema, place: string): ValueType
  /** All named types, in the order of the names. */
  declared(): Declared[]
}

/** With its first letter in upper case. */
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Types of a document's schemas. Nested objects are named after their place: `AutomationRuns`. */
export function makeTypes(
  schemas: Readonly<Record<string, Schema>>,
  nameOf: (name: string) => string,
  side: Declared['side'],
  /** Names that are already taken; new ones are added. */
  taken: Set<string>,
): TypeMaker {
  const known = new Map<string, Declared>()
  for (const name of Object.keys(schemas)) taken.add(name).add(nameOf(name))

  const freeName = (place: string): string => {
    for (let n = 1; ; n++) {
      const name = n === 1 ? place : `${place}${n}`
      if (taken.has(name)) continue
      taken.add(name)
      return name
    }
  }

  const namedType = (ref: string): ValueType => {
    const name = nameIn(ref)
    const own = nameOf(name)
    if (!known.has(own)) {
      // Entered before its fields are read, as it may refer to itself.
      known.set(own, { name: own, side, about: undefined })
      const schema = schemas[name] ?? {}
      known.set(own, { ...declare(own, schema), about: schema.description as string | undefined })
    }
    return { is: 'named', name: own }
  }

  const declare = (name: string, schema: Schema): Declared =>
    isObject(schema)
      ? { name, side, about: undefined, ...fieldsOf(schema, name) }
      : { name, side, about: undefined, is: typeOf(schema, name) }

  const fieldsOf = (schema: Schema, place: string) => {
    const required = new Set((schema.required as string[] | undefined) ?? [])
    const choices = choicesOf(schema)
    const apart = new Set(choices.flat())
    const properties = Object.entries(schema.properties as Record<string, Schema>)
    const fields = properties.map(
      ([name, one]): TypedField => ({
        name,
        about: one.description as string | undefined,
        type: timed(name, typeOf(one, place + capital(name))),
        needed: required.has(name) && !apart.has(name),
      }),
    )
    return choices.length === 0 ? { fields } : { fields, choices }
  }

  // A time may be given in the language's own type, even if the server takes more than RFC 3339.
  const timed = (name: string, type: ValueType): ValueType =>
    side === 'in' && type.is === 'text' && /At$/.test(name)
      ? { is: 'either', of: [{ is: 'text' }, { is: 'time' }], ...(type.orNull && { orNull: true }) }
      : type

  function typeOf(schema: Schema, place: string): ValueType {
    if (typeof schema.$ref === 'string') return namedType(schema.$ref)
    if ('const' in schema) return { is: 'words', words: [schema.const as string] }
    if (Array.isArray(schema.enum)) {
      const words = (schema.enum as (string | null)[]).filter((one) => one !== null)
      return { is: 'words', words, ...(words.length < schema.enum.length && { orNull: true }) }
    }
    const choices = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined
    if (choices !== undefined && schema.properties === undefined) {
      return together(choices.map((one) => typeOf(one, place)))
    }
    const types = Array.isArray(schema.type) ? (schema.type as string[]) : [String(schema.type)]
    return together(types.map((type) => simpleType(schema, type, place)))
  }

  function simpleType(schema: Schema, type: string, place: string): ValueType {
    switch (type) {
      case 'null':
        return { is: 'any', orNull: true }
      case 'boolean':
        return { is: 'flag' }
      case 'integer':
        return { is: 'whole' }
      case 'number':
        return { is: 'number' }
      case 'string':
        return { is: schema.format === 'date-time' ? 'time' : 'text' }
      case 'array':
        return { is: 'list', of: typeOf((schema.items ?? {}) as Schema, `${place}Item`) }
      case 'object':
        return objectType(schema, place)
      default:
        return { is: 'any' }
    }
  }

  function objectType(schema: Schema, place: string): ValueType {
    if (schema.properties !== undefined) {
      const name = freeName(place)
      known.set(name, { name, side, about: undefined })
      known.set(name, { name, side, about: undefined, ...fieldsOf(schema, name) })
      return { is: 'named', name }
    }
    const { additionalProperties: more } = schema
    const of = typeof more === 'object' ? typeOf(more as Schema, `${place}Value`) : undefined
    return { is: 'map', of: of ?? { is: 'any' } }
  }

  return {
    typeOf,
    declared: () => [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

/** The ways to give an object that needs one of several sets of fields; undefined for one that does not. */
export function variantsOf({ fields = [], choices = [] }: Declared) {
  if (choices.length === 0) return undefined
  const keys = choices.map(([first = '']) => first)
  return choices.map((needed, i) => ({
    key: keys[i] ?? '',
    fields: fields
      .filter(({ name }) => name === keys[i] || !keys.includes(name))
      // Null means absent, and the choosing field must be there.
      .map((one): TypedField => {
        if (!needed.includes(one.name)) return one
        const { orNull: _, ...type } = one.type
        return { ...one, type, needed: true }
      }),
  }))
}

const isObject = (schema: Schema) =>
  schema.properties !== undefined && !Array.isArray(schema.type) && schema.$ref === undefined

/** Sets of fields of which one is needed: `html`, or `template`. */
function choicesOf(schema: Schema): string[][] {
  const choices = ((schema.oneOf ?? schema.anyOf) as Schema[] | undefined) ?? []
  return choices.flatMap(({ required }) => (Array.isArray(required) ? [required as string[]] : []))
}

/** One type of several; whether it may be null is kept separately. */
function together(types: readonly ValueType[]): ValueType {
  const isNull = (type: ValueType) => type.is === 'any' && type.orNull === true
  const real = types.filter((type) => !isNull(type))
  const flat = real.flatMap((type) => (type.is === 'either' ? type.of : [type]))
  const [first, ...others] = flat
  const seen = new Map(flat.map((type) => [JSON.stringify(type), type]))
  const orNull = (real.length < types.length || types.some((type) => type.orNull)) && {
    orNull: true as const,
  }
  if (first === undefined) return { is: 'any', orNull: true }
  if (others.length === 0 || seen.size === 1) return { ...first, ...orNull }
  return { is: 'either', of: [...seen.values()], ...orNull }
}
