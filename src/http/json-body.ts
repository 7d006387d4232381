import { isAscii, isUtf8, transcode } from 'node:buffer'
import { ApiError } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'
import { locateJsonFault } from './json-fault.js'
import { type Shortened, scanJson, withoutRepeats } from './json-scan.js'

/** Throws unless the body is declared as JSON; RFC 8259 §8.1 knows no encoding but UTF-8. */
export function requireJsonType(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters.find((one) => one.trim().startsWith('charset='))
  const isJson = type.trim() === 'application/json'
  if (isJson && (charset === undefined || /=\s*"?utf-?8"?\s*$/.test(charset))) return
  throw new ApiError('unsupported_media_type', 'Send the body as application/json in UTF-8')
}

// A million values take JSON.parse half a second, in which nobody else is served.
const maxValues = 200_000
// JSON.parse takes at most a third of a second for so few bytes, so counting their values is not
// worth a pass.
const unscannedBytes = 2 * 1024 * 1024
// A smaller body is no batch of mails, and is quickly parsed.
const singleBytes = 64 * 1024

/** The object in a JSON body. Throws a 400 that says where the text goes wrong, without quoting it. */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  const isPlain = isAscii(bytes)
  if (!isPlain && !isUtf8(bytes))
    throw new ApiError('validation_error', 'The body is not valid UTF-8')
  const isBatch = bytes.length > singleBytes && bytes.length <= unscannedBytes
  const short = isBatch ? withoutRepeats(bytes) : asItIs(bytes)
  if (short.bytes.length < bytes.length / 2) {
    const value = parsed(short, isPlain)
    if (isJsonObject(value)) return value
  }
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
  const value = parsed(scanned, isPlain)
  if (isJsonObject(value)) return value
  // V8's own message quotes the body and, in Node 20, mostly leaves the position out.
  if (value === undefined)
    throw new ApiError('validation_error', `Malformed JSON: ${locateJsonFault(textOf(bytes))}`)
  throw new ApiError('validation_error', 'The body must be a JSON object')
}

const asItIs = (bytes: Buffer) => ({ bytes, restore: () => {} })

/** The value of a text; undefined if the text is no JSON. */
function parsed({ bytes, restore }: Shortened, isPlain: boolean): unknown {
  try {
    const value: unknown = JSON.parse(textOf(bytes, isPlain))
    if (typeof value === 'object' && value !== null) restore(value)
    return value
  } catch {
    return undefined
  }
}

// From this many characters on Node keeps a latin1 or UTF-16 text outside of V8's heap (EXTERN_APEX in its
// string_bytes.cc); a text with fewer, of two or three bytes each, still lies in it. In the heap each large text is
// fresh memory, whose first touch costs several times the parse: a batch of 100 mails took 47 to 60 µs a mail, and now
// takes 13 (24 Nov 2026).
const outsideHeapBytes = 1_031_913
// From this many bytes on padding a text to that length pays: at 0.67 MB a mail of a batch took 57 µs, and now
// takes 31.
const paddedBytes = 512 * 1024

// RFC 8259 §8.1: a byte order mark must not be sent, but may be ignored.
function textOf(bytes: Buffer, isPlain = isAscii(bytes)): string {
  if (isPlain) return (bytes.length < paddedBytes ? bytes : padded(bytes)).toString('latin1')
  return decoded(bytes).replace(/^\uFEFF/, '')
}

function decoded(bytes: Buffer): string {
  if (bytes.length < outsideHeapBytes) return bytes.toString('utf8')
  return transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
}

/** Padded to lie outside of the heap, with white space after the text, which JSON allows (RFC 8259 §2). */
function padded(bytes: Buffer): Buffer {
  if (bytes.length >= outsideHeapBytes) return bytes
  const enough = scratch?.deref() ?? Buffer.alloc(outsideHeapBytes)
  scratch = new WeakRef(enough)
  bytes.copy(enough)
  return enough.fill(' ', bytes.length)
}

/** Used again until it is collected: each user is done with it at once. */
let scratch: WeakRef<Buffer> | undefined
