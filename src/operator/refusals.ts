import { ApiError, type ErrorCode, OperatorError } from '../errors/index.js'

/**
 * Runs what commands do too: where a command refuses in words, a program gets this code. `field` is the wrong field.
 */
export async function refusing<T>(
  work: () => Promise<T> | T,
  { code = 'validation_error', field }: { code?: ErrorCode; field?: string } = {},
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const { message, cause } = error
    // An error with a cause is a fault of ours, which the operator reads in the log.
    if (cause !== undefined) throw error
    throw code === 'validation_error'
      ? new ApiError(code, message, { status: 422, fields: field === undefined ? {} : { field } })
      : new ApiError(code, message)
  }
}

/** A 422 that names the field. */
export const wrongField = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })
