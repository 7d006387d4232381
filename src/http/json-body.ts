import { isUtf8 } from 'node:buffer'
import { ApiError } from '../errors/index.js'
import { locateJsonFault } from './json-fault.js'
import { scanJson } from './json-scan.js'

/** Throws unless the body is declared as JSON; RFC 8259 §8.1 knows no encoding but UTF-8. */
export function requireJsonType(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters.find((one) => one.trim().startsWith('charset='))
  const isJson = type.trim() === 'application/json'
  if (isJson && (charset === undefined || /=\s*"?utf-?8"?\s*$/.test(charset))) return
  throw new ApiError('unsupported_media_type', 'Send the body as application/json in UTF-8')
}

// A million of them take JSON.parse half a second, in which nobody else is served.
const maxValues = 200_000
// So few bytes hold what JSON.parse takes a third of a second for: not worth a pass over them.
const unscannedBytes = 2 * 1024 * 1024

/** The object in a JSON body. Throws a 400 that says where the text goes wrong, without quoting it. */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) throw new ApiError('validation_error', 'The body is not valid UTF-8')
  const scanned = bytes.length > unscannedBytes ? scanJson(bytes, maxValues) : asItIs(bytes)
  if (scanned === undefined) {
    throw new ApiError(
      'validation_error',
      `The body has more than ${maxValues} JSON values, which is the limit`,
      {
        status: 413,
        fields: { max: maxValues },
      },
    )
  }
  let value: unknown
  try {
    value = JSON.parse(textOf(scanned.bytes))
    if (typeof value === 'object' && value !== null) scanned.restore(value)
  } catch {
    // V8's own message quotes the body and, in Node 20, mostly leaves the position out.
    throw new ApiError('validation_error', `Malformed JSON: ${locateJsonFault(textOf(bytes))}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new ApiError('validation_error', 'The body must be a JSON object')
}

const asItIs = (bytes: Buffer) => ({ bytes, restore: () => {} })

const textOf = (bytes: Buffer) => bytes.toString('utf8').replace(/^\uFEFF/, '')
