import { isUtf8 } from 'node:buffer'
import { ApiError } from '../errors/index.js'
import { locateJsonFault } from './json-fault.js'

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
// So few bytes hold what JSON.parse takes a third of a second for: not worth the counting.
const uncountedBytes = 2 * 1024 * 1024

/** The object in a JSON body. Throws a 400 that says where the text goes wrong, without quoting it. */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) throw new ApiError('validation_error', 'The body is not valid UTF-8')
  if (!hasAtMost(bytes, maxValues)) {
    throw new ApiError('validation_error', `The body has more than ${maxValues} values`, {
      status: 413,
      fields: { max: maxValues },
    })
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // V8's own message quotes the body and, in Node 20, mostly leaves the position out.
    throw new ApiError('validation_error', `Malformed JSON: ${locateJsonFault(text)}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new ApiError('validation_error', 'The body must be a JSON object')
}

const [quote = 0, backslash, comma, bracket, brace] = Buffer.from('"\\,[{')

/** Whether a JSON text has so few values, counted by what comes before one: `,`, `[` or `{`. */
function hasAtMost(bytes: Buffer, max: number): boolean {
  if (bytes.length <= uncountedBytes) return true
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = stringEnd(bytes, at)
    else if (byte === comma || byte === bracket || byte === brace) values++
    if (values > max) return false
  }
  return true
}

// A file in base64 is one string of megabytes, which a native search passes in no time; where quotes stand
// close together its calls would take longer than a loop.
const plainRun = 1_024

function stringEnd(bytes: Buffer, start: number): number {
  let plainFrom = start + 1
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) return at
    if (byte === backslash) plainFrom = ++at + 1
    else if (at - plainFrom === plainRun) {
      const next = bytes.indexOf(quote, at)
      if (next === -1) return bytes.length
      let before = next - 1
      while (bytes[before] === backslash) before--
      // An even number of backslashes: none of them escapes it.
      if ((next - before) % 2 === 1) return next
      at = next
      plainFrom = next + 1
    }
  }
  return bytes.length
}
