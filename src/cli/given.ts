import type { Operation } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { check, ShapeError } from '../fields/index.js'

/** What a command line gives to an operation, held against the fields that a request of the API is held against. */
export function givenTo<Body>(operation: Operation<unknown, unknown, Body>, given: unknown): Body {
  const { body } = operation.shape
  if (body === undefined) throw new Error(`${operation.route} takes nothing`)
  try {
    return check(given, body) as Body
  } catch (error) {
    if (error instanceof ShapeError) throw new ApiError('validation_error', error.message)
    throw error
  }
}
