import { ApiError } from '../errors/index.js'
import { check, ShapeError } from '../http/index.js'
import { foreignFields } from './foreign-fields.js'
import { SendBody, type SendInput } from './send-body.js'

/** An item of a batch that has the shape of a send, or one sentence about each field that is wrong. */
export function itemOf(item: unknown): SendInput | ApiError {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return fault('Expected an object with the fields of a send')
  }
  const foreign = foreignFields(item)
  try {
    const valid = check(item, SendBody)
    return foreign === undefined ? valid : fault(foreign)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return fault([error.message, foreign].filter(Boolean).join('; '))
  }
}

const fault = (message: string) => new ApiError('validation_error', message)
