import { ApiError, type ErrorCode } from '../errors/index.js'

/** An `ApiError` as it goes between threads, where a class does not survive. */
export interface PortableError {
  code: ErrorCode
  message: string
  rest: { status: number; fields: Record<string, unknown>; headers: Record<string, string> }
}

/** Makes an error ready for the way to another thread. */
export const toRefusal = ({ code, message, status, fields, headers }: ApiError): PortableError => ({
  code,
  message,
  rest: { status, fields, headers },
})

/** The error as it was on the other side. */
export const fromRefusal = ({ code, message, rest }: PortableError): ApiError =>
  new ApiError(code, message, rest)
