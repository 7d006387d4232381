import { type ErrorCode, errorCatalogue, type StatusOf } from '../errors/index.js'
import { closed, type Schema, text, uuid } from '../fields/index.js'

/** A body as it may be sent or answered; shown to people and validated by a test. */
export interface Example {
  /** Which case it shows. */
  when: string
  value: unknown
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
  /** The name of the body's shape, needed where it has `fields`. */
  shape?: string
  fields?: Record<string, Schema>
  /** The fields that may be absent. */
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

/** A 422 that names the one wrong field; `field` in the example. */
export const invalidField = (when: string, error: string, field: string): RefusalExample =>
  refusal('validation_error', when, error, {
    status: 422,
    shape: 'InvalidField',
    fields: { field: text('The name of the field that is wrong') },
    example: { field },
  })

const message = text('What is wrong, in words for people. They may change: branch on `code`')

/** The `message` of answers that say what was done. */
export const confirmation = text('What was done, in words for people, which may change')

/** The fields of an answer that says that what the request named was deleted. */
export const deletedFields = {
  id: uuid('The id that the request named'),
  deleted: { const: true },
  message: confirmation,
}

/** `not_found` as the name of a type: `NotFound`. */
function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
