import { ApiError } from '../errors/index.js'
import { isHeaderName, longestWord } from '../mime/index.js'

export const maxHeaders = 25
export const maxHeaderNameLength = 76
export const maxHeaderBytes = 4 * 1024
export const maxHeadersBytes = 16 * 1024

// RFC 6376, RFC 8617: signatures of others, and the results that they recorded.
const signatures = /^(?:dkim-.*|domainkey-.*|arc-.*)$/
// RFC 5322 §3.6.6, §3.6.7; RFC 8601 §5; RFC 9228: a false trace makes loops, or hides them.
const trace = /^(?:received.*|resent-.*|delivered-to|x-original-to|authentication-results.*)$/
const waysBack = /^(?:return-path|errors-to|bounces-to|cfbl-.*)$/

/**
 * Fields that servers on the way write or believe, by their names in lower case: a mail that is handed in has none.
 */
export const isOfServers = (name: string): boolean =>
  [signatures, trace, waysBack].some((names) => names.test(name))

/**
 * Why a mail cannot bring these fields itself: another field sets them, or whoever delivers the mail writes
 * them.
 */
const refused: readonly { names: RegExp; why: string }[] = [
  { names: /^from$/, why: 'use the field "from" of the request' },
  { names: /^(?:to|cc|bcc)$/, why: 'use the field "to", "cc" or "bcc" of the request' },
  { names: /^reply-to$/, why: 'use the field "replyTo" of the request' },
  { names: /^subject$/, why: 'use the field "subject" of the request' },
  {
    names: /^date$/,
    why: 'Posthorn sets it when the mail leaves; use the field "scheduledAt" for a later time',
  },
  { names: /^sender$/, why: 'the mail is sent by its "from"' },
  { names: /^message-id$/, why: 'Posthorn makes it; the answer to GET /v1/emails/:id has it' },
  {
    names: /^(?:mime-version|content-.*)$/,
    why: 'they describe the parts, which Posthorn composes',
  },
  {
    names: /^list-(?:unsubscribe.*|id)$/,
    why: 'mail of type "marketing" has its own, signed for each recipient',
  },
  {
    names: waysBack,
    why: 'bounces and complaints come back to Posthorn',
  },
  { names: signatures, why: 'Posthorn signs the mail' },
  { names: trace, why: 'servers that the mail passes write it' },
  { names: /^x-posthorn-.*$/, why: "these names are Posthorn's own" },
]

// Their grammar has ids in angle brackets, in which encoded-words may not occur (RFC 2047 §5).
const ofIds = /^(?:in-reply-to|references)$/

const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** What is wrong with header fields: in a sentence, and for pages which it is, of the header of that name. */
export interface HeaderFault {
  message: string
  code?: 'headerName' | 'header'
  name?: string
}

/** Throws a 422 that names the first field that a mail may not bring, and why. */
export function checkHeaders(headers: Readonly<Record<string, string>> | undefined): void {
  const fault = headers && headersFault(headers)
  if (fault !== undefined) throw new ApiError('validation_error', fault.message, { status: 422 })
}

/** What is wrong with the fields; undefined if nothing is. */
export function headersFault(headers: Readonly<Record<string, string>>): HeaderFault | undefined {
  const entries = Object.entries(headers)
  if (entries.length > maxHeaders) {
    return { message: `headers: ${entries.length} are given, at most ${maxHeaders} are allowed` }
  }
  const seen = new Set<string>()
  let bytes = 0
  for (const [name, value] of entries) {
    const why = nameFault(name) ?? valueFault(name, value)
    if (why !== undefined) {
      const code = isHeaderName(name) ? 'header' : 'headerName'
      return { message: `The header ${shown(name)} cannot be set: ${why}`, code, name }
    }
    // RFC 5322 §1.2.2: names are the same in any case.
    if (seen.has(name.toLowerCase())) {
      return { message: `The header ${shown(name)} is given twice`, code: 'header', name }
    }
    seen.add(name.toLowerCase())
    bytes += name.length + Buffer.byteLength(value)
  }
  if (bytes > maxHeadersBytes) {
    return { message: `headers: ${bytes} bytes are given, at most ${maxHeadersBytes} are allowed` }
  }
  return undefined
}

/** The OpenAPI document lists all names that cannot be set; the reason for each is here. */
function nameFault(name: string): string | undefined {
  if (!isHeaderName(name)) {
    return `its name has to be 1 to ${maxHeaderNameLength} printable ASCII characters without space and colon (RFC 5322 §3.6.8)`
  }
  return refused.find(({ names }) => names.test(name.toLowerCase()))?.why
}

/** A line break in a value would be a way to write further headers (RFC 5322 §2.2). */
function valueFault(name: string, value: string): string | undefined {
  if (controls.test(value)) return 'its value has a line break or another control character'
  if (!value.isWellFormed()) return 'its value has half of a character (a lone surrogate)'
  if (value.trim() === '') return 'its value is empty'
  if (Buffer.byteLength(value) > maxHeaderBytes) return `its value is over ${maxHeaderBytes} bytes`
  const isAscii = /^[ -~]*$/.test(value)
  if (!isAscii && ofIds.test(name.toLowerCase())) return 'its value may have only ASCII characters'
  if (isAscii && value.split(' ').some((word) => word.length > longestWord)) {
    return `its value has a word of over ${longestWord} characters, which no line can hold`
  }
  return undefined
}

const shown = (name: string) => JSON.stringify(name.slice(0, 80))
