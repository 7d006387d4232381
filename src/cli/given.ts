import { checked, type Operation } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { ShapeError } from '../fields/index.js'

/** A command line's values for an operation, checked as a request of the API is. */
export function givenTo<Body>(operation: Operation<unknown, unknown, Body>, given: object): Body {
  try {
    return checked(operation, given)
  } catch (error) {
    if (error instanceof ShapeError) throw new ApiError('validation_error', error.message)
    throw error
  }
}
