/** JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type Schema = { readonly [keyword: string]: unknown }

/** The schema of a string. */
export const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  description,
  ...more,
})

/** The schema of a whole number that is not negative. */
export const count = (description: string, more: Schema = {}): Schema => ({
  type: 'integer',
  minimum: 0,
  description,
  ...more,
})

// `format` only tells in JSON Schema 2020-12 (§7 of Validation); the server's own rules decide.
/** The schema of an id. */
export const uuid = (description: string): Schema => text(description, { format: 'uuid' })
/** The schema of a moment: ISO 8601 in UTC. */
export const time = (description: string): Schema => text(description, { format: 'date-time' })
/** A reference to a shape by its name. */
export const shaped = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/**
 * The same schema, or null. JSON Schema has no `nullable`: null is one of the types, and one of the listed
 * values.
 */
export const orNull = (schema: Schema): Schema => {
  const { type, enum: values, ...rest } = schema
  if (type === undefined) return { anyOf: [schema, { type: 'null' }] }
  const enumerated = Array.isArray(values) ? { enum: [...values, null] } : {}
  return { type: [type, 'null'], ...enumerated, ...rest }
}

/** An object of exactly these properties, all required except the `optional` ones. */
export function closed(properties: Record<string, Schema>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

/**
 * An object of any properties. This is said explicitly, since type generators take an object without properties for
 * an empty one.
 */
export const openObject = (description: string): Schema => ({
  type: 'object',
  additionalProperties: true,
  description,
})

/** Data of a client's own, whose numbers `numberFault` checks. */
export const ownData = (description: string): Schema =>
  openObject(
    `${description}. Whole numbers beyond ±${Number.MAX_SAFE_INTEGER} (2^53 - 1) are a 422, as JSON readers change their digits: send them as text`,
  )

/** An alternative of `anyOf`: these fields are there, and none of them is null. */
export const alternative = (title: string, ...required: string[]): Schema => ({
  type: 'object',
  title,
  required,
  properties: Object.fromEntries(required.map((name) => [name, { type: 'string' }])),
})
