import { type ErrorCode, errorCatalogue, type StatusOf } from '../errors/index.js'

/** JSON Schema 2020-12, which is what OpenAPI 3.1 speaks. */
export type Schema = { readonly [keyword: string]: unknown }

/** What a folder of endpoints says about itself: one file a domain. */
export interface Description {
  tag: { name: string; description: string }
  /** By name, for `shape` below and for `$ref` to `#/components/schemas/<name>`. */
  schemas: Record<string, Schema>
  /** By method and path as they are routed: `GET /v1/emails/:id`. */
  operations: Record<string, Operation>
}

/** An endpoint. What its route says by itself (key, JSON body, limits) is added by `document.ts`. */
export interface Operation {
  /** Unique; client generators make it a function's name. */
  id: string
  summary: string
  description?: string
  /** Parameters of the path, by name: words say what a UUID is of; any other has its whole schema. */
  params?: Record<string, string | Schema>
  /** After the `?`, by name; none is required. */
  query?: Record<string, Schema>
  /** JSON, or a form where the route takes one; that needs no examples. */
  body?: { shape: string; examples: Example[] }
  answers: AnswerExample[]
  refusals: RefusalExample[]
}

/** A body as it may be sent or answered; shown to people and validated by a test. */
export interface Example {
  /** Which case it shows. */
  when: string
  value: unknown
}

/** A success. Several of one status are told apart by their shape. */
export interface AnswerExample extends Example {
  status: number
  shape: string
}

/** An error: its code, its body, and when it comes. */
export interface RefusalExample extends Example {
  status: number
  code: ErrorCode
  shape: string
  schema: Schema
}

interface RefusalOptions<C extends ErrorCode> {
  /** Default: the code's usual one. */
  status?: StatusOf<C>
  /** The name of its body, needed where it has `fields`. */
  shape?: string
  fields?: Record<string, Schema>
  /** Those of the fields that may be absent. */
  optional?: readonly string[]
  /** The fields' values. */
  example?: Record<string, unknown>
}

/**
 * An error whose body is `{ code, error }` and `fields`, nothing else. `when` says in which case it comes, `error` is
 * an example of its words, which no client may depend on.
 */
export function refusal<C extends ErrorCode>(
  code: C,
  when: string,
  error: string,
  options: RefusalOptions<C> = {},
): RefusalExample {
  const { meaning, statuses } = errorCatalogue[code]
  const { fields = {}, optional, shape = pascal(code) } = options
  return {
    code,
    when,
    status: options.status ?? statuses[0],
    shape,
    schema: closed(
      { code: { const: code, description: meaning }, error: message, ...fields },
      optional,
    ),
    value: { code, error, ...options.example },
  }
}

/** A 422 that names the one field which is wrong, `field` in the example. */
export const invalidField = (when: string, error: string, field: string): RefusalExample =>
  refusal('validation_error', when, error, {
    status: 422,
    shape: 'InvalidField',
    fields: { field: text('The name of the field that is wrong') },
    example: { field },
  })

/** An object of exactly these properties, all of them there but the `optional`. */
export function closed(properties: Record<string, Schema>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

/**
 * An object of whatever properties; said, since makers of types take an object without properties for an empty one.
 */
export const openObject = (description: string): Schema => ({
  type: 'object',
  additionalProperties: true,
  description,
})

/** Data of a client's own, whose numbers `numberFault` looks at. */
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
 * The same, or null. JSON Schema has no `nullable`: null is one of the types, and of the values where they are
 * listed.
 */
export const orNull = (schema: Schema): Schema => {
  const { type, enum: values, ...rest } = schema
  if (type === undefined) return { anyOf: [schema, { type: 'null' }] }
  const enumerated = Array.isArray(values) ? { enum: [...values, null] } : {}
  return { type: [type, 'null'], ...enumerated, ...rest }
}

const message = text('What is wrong, in words for people. They may change: branch on `code`')

/** The `message` of answers that say what was done. */
export const confirmation = text('What was done, in words for people, which may change')

/** `not_found` as the name of a type: `NotFound`. */
function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
