import { ApiError, type ErrorCode } from '../errors/index.js'

/** An `ApiError` in the form that is sent between threads, where a class does not survive. */
export interface PortableError {
  code: ErrorCode
  message: string
  rest: { status: number; fields: Record<string, unknown>; headers: Record<string, string> }
}

/** Makes an error ready to be sent to another thread. */
export const toRefusal = ({ code, message, status, fields, headers }: ApiError): PortableError => ({
  code,
  message,
  rest: { status, fields, headers },
})

/** The error as it was in the other thread. */
export const fromRefusal = ({ code, message, rest }: PortableError): ApiError =>
  new ApiError(code, message, rest)
