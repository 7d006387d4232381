import { ApiError } from '../errors/index.js'

/** One part of a multipart/form-data body; `bytes` is a view, nothing is copied. */
export interface FormPart {
  name: string
  filename: string | undefined
  contentType: string
  bytes: Buffer
}

// No form of ours has more, and the parts before an upload's file are skipped one by one.
export const maxParts = 200
// How long the header of one part may be. Without a bound a part with an endless header would be held
// whole.
export const maxHeaderBytes = 8 * 1024

/**
 * Takes a whole multipart/form-data body apart (RFC 7578, RFC 2046 §5.1.1). A body without its
 * closing boundary was cut off on the way and is refused, not taken for a short one. Why no package
 * does it: `README.md`, 'Forms and files'.
 */
export function parseMultipart(body: Buffer, contentType: string): FormPart[] {
  const delimiter = delimiterOf(contentType)
  const parts: FormPart[] = []
  // The first delimiter may stand at the very start, without the line end before it.
  let at = body.indexOf(delimiter.subarray(2))
  if (at !== 0) at = body.indexOf(delimiter) + 2
  if (at === 1) throw malformed('no part found')
  at += delimiter.length - 2
  while (body.toString('latin1', at, at + 2) !== '--') {
    const start = afterLine(body, at)
    const end = body.indexOf(delimiter, start - 2)
    if (end === -1) throw malformed('the closing boundary is missing')
    if (parts.length === maxParts) throw malformed(`more than ${maxParts} parts`)
    parts.push(readPart(body.subarray(start, Math.max(start, end))))
    at = end + delimiter.length
  }
  return parts
}

/** The line end before a boundary is a part of the delimiter. */
export function delimiterOf(contentType: string): Buffer {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  if (boundary === null) throw malformed('the boundary is missing from Content-Type')
  return Buffer.from(`\r\n--${boundary[1] ?? boundary[2]}`, 'latin1')
}

// RFC 2046 §5.1.1: a delimiter may be followed by blanks before its line ends.
function afterLine(body: Buffer, at: number): number {
  const end = body.indexOf('\r\n', at)
  if (end === -1 || body.toString('latin1', at, end).trim() !== '') {
    throw malformed('a boundary is not followed by a line end')
  }
  return end + 2
}

function readPart(part: Buffer): FormPart {
  const headEnd = part.indexOf('\r\n\r\n')
  if (headEnd === -1 || headEnd > maxHeaderBytes) throw malformed('a part has no header section')
  return { ...readPartHead(part.toString('utf8', 0, headEnd)), bytes: part.subarray(headEnd + 4) }
}

/** What a part's header section says. RFC 7578 §4.2: `filename*` must not be sent in a form, so it is not read. */
export function readPartHead(head: string): Omit<FormPart, 'bytes'> {
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(head)?.[1] ?? ''
  const name = parameter(disposition, 'name')
  if (name === undefined) throw malformed('a part has no name')
  return {
    name,
    filename: parameter(disposition, 'filename'),
    contentType: /^content-type:\s*(\S[^\r\n]*)/im.exec(head)?.[1]?.trim() ?? 'text/plain',
  }
}

// Browsers write a quote inside a value as %22 (RFC 7578 §2), older clients as \".
function parameter(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(
    disposition,
  )
  const value = found?.[1] ?? found?.[2]
  return value?.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"')
}

/** The 400 for a form that cannot be read. */
export function malformed(why: string): ApiError {
  return new ApiError('validation_error', `Malformed multipart body: ${why}`)
}
