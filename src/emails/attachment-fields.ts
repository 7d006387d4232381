import { ApiError } from '../errors/index.js'
import { turnsDirection } from '../fields/index.js'
import { isJsonObject } from '../json/index.js'
import { invitationMethod, mediaTypeOf } from '../mime/index.js'

/** An attachment as a client described it; its bytes are still in base64, or elsewhere. */
export interface AskedAttachment {
  /** What messages call it: `attachments[0]`. */
  place: string
  filename: string
  contentType: string
  disposition: 'attachment' | 'inline'
  contentId?: string
  source: { base64: string } | { url: string }
}

// The longest name that every common file system takes; mail programs cut longer ones.
const maxFilenameBytes = 255
const maxTypeChars = 200

/**
 * Checks everything but the bytes, together with the attachments that the mail shares with others; throws
 * a 422 that names the first faulty one.
 */
export function readAttachmentFields(
  items: readonly unknown[],
  maxCount: number,
  shared: readonly AskedAttachment[] = [],
): readonly AskedAttachment[] {
  const count = shared.length + items.length
  if (count > maxCount) throw refused(`attachments: ${count} given, at most ${maxCount} allowed`)
  const own = items.map((item, i) => readFields(item, `attachments[${i}]`))
  const asked = [...shared, ...own]
  const ids = new Set<string>()
  for (const { place, contentId } of asked) {
    if (contentId === undefined) continue
    if (ids.has(contentId)) throw refused(`${place}.contentId: ${contentId} is given twice`)
    ids.add(contentId)
  }
  const invitations = asked.filter(({ contentType }) => invitationMethod(contentType))
  if (invitations[1] !== undefined) {
    throw refused(
      `${invitations[1].place}: a mail can have one invitation (text/calendar; method=…)`,
    )
  }
  return asked
}

/** A 422: the attachment, or the file behind its URL, cannot be sent. */
export function refused(message: string): ApiError {
  return new ApiError('validation_error', message, { status: 422 })
}

/** Null counts as absent, as everywhere in the API. */
function readFields(item: unknown, place: string): AskedAttachment {
  if (!isJsonObject(item)) {
    throw refused(`${place}: expected an object with filename and content or url`)
  }
  refuseForeign(item, place)
  const given = new Map(Object.entries(item).filter(([, value]) => value !== null))
  const filename = filenameOf(given.get('filename'), `${place}.filename`)
  const contentType = typeOf(given.get('contentType'), filename, `${place}.contentType`)
  const contentId = idOf(given.get('contentId'), `${place}.contentId`)
  const usual = contentId === undefined ? 'attachment' : 'inline'
  const disposition = given.get('disposition') ?? usual
  if (disposition !== 'attachment' && disposition !== 'inline') {
    throw refused(`${place}.disposition: expected "attachment" or "inline"`)
  }
  const source = sourceOf(given.get('content'), given.get('url'), place)
  const fields = { place, filename, contentType, disposition, source } as const
  return contentId === undefined ? fields : { ...fields, contentId }
}

/** Exactly one of the two, since otherwise one would be ignored silently. */
function sourceOf(content: unknown, url: unknown, place: string): AskedAttachment['source'] {
  if ((content === undefined) === (url === undefined)) {
    throw refused(`${place}: expected exactly one of content and url`)
  }
  if (content === undefined) {
    if (typeof url === 'string') return { url }
    throw refused(`${place}.url: expected a string, such as "https://files.example.com/a.pdf"`)
  }
  if (typeof content === 'string') return { base64: content }
  throw refused(`${place}.content: expected a string in base64`)
}

// Characters that no name needs, or that make it look different from what it is: a right-to-left
// override (U+202E) makes `annexe‮fdp.exe` look like a PDF.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Refused and not repaired: a name that we changed would mean another file to the recipient. */
function filenameOf(value: unknown, place: string): string {
  const name = typeof value === 'string' ? value.trim() : ''
  if (typeof value !== 'string' || name === '') {
    throw refused(`${place}: expected a string, such as "invoice.pdf"`)
  }
  if (controls.test(name) || !name.isWellFormed()) {
    throw refused(`${place}: contains a line end, another control character or half a character`)
  }
  if (turnsDirection(name)) {
    throw refused(`${place}: contains a character that turns the direction of the text around`)
  }
  if (/[/\\]/.test(name) || name === '.' || name === '..') {
    throw refused(`${place}: expected only the name, without a path`)
  }
  // Python reads only a part before a `*`; most readers decode an encoded-word although it is none
  // here.
  if (name.includes('*') || /=\?[^?]*\?[bq]\?/i.test(name)) {
    throw refused(`${place}: mail programs read "*" and "=?…?=" in a name as something else`)
  }
  const bytes = Buffer.byteLength(name)
  if (bytes > maxFilenameBytes) {
    throw refused(`${place}: ${bytes} bytes, at most ${maxFilenameBytes} allowed`)
  }
  return name
}

const token = "[!#$%&'*+.^`|~\\w-]+"
const mediaType = new RegExp(
  `^${token}/${token}(?:[ \\t]*;[ \\t]*${token}=(?:${token}|"[ !#-\\[\\]-~]*"))*$`,
)

/**
 * A container type (`message/rfc822`, `multipart/*`) would be taken apart by receivers as mail;
 * such a file is sent as bytes.
 */
function typeOf(value: unknown, filename: string, place: string): string {
  if (value === undefined) {
    const known = mediaTypeOf(filename)
    return isContainer(known) ? 'application/octet-stream' : known
  }
  const type = typeof value === 'string' ? value.trim() : ''
  if (type.length > maxTypeChars || !mediaType.test(type)) {
    throw refused(`${place}: expected a media type, such as "application/pdf"`)
  }
  // RFC 2046 §5.1, §5.2.1: parts of these types must not be in base64.
  if (isContainer(type)) {
    throw refused(
      `${place}: a part of type ${type.replace(/;.*/, '').trim()} cannot be attached; send the file as "application/octet-stream"`,
    )
  }
  return type
}

const isContainer = (type: string) => /^(?:multipart|message)\//i.test(type)

/** RFC 2392 wants a Content-ID to be like a Message-ID; HTML refers to it by `cid:`. */
function idOf(value: unknown, place: string): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && /^[\w!#$%&'*+/=?^`{|}~.-]+(?:@[\w.-]+)?$/.test(value)) {
    if (value.length <= 128) return value
  }
  throw refused(
    `${place}: expected 1 to 128 characters such as "logo", which the HTML names as "cid:logo"`,
  )
}

/** The fields' names in other APIs (Resend, Postmark, SES, nodemailer), without case, `_` and `-`. */
const foreign = new Map([
  ...['name', 'filename'].map((name) => [name, 'filename'] as const),
  ...['data', 'body', 'content', 'rawcontent', 'contentbytes', 'base64content'].map(
    (name) => [name, 'content'] as const,
  ),
  ...['path', 'href', 'url', 'uri'].map((name) => [name, 'url'] as const),
  ...['type', 'mimetype', 'contenttype', 'mediatype'].map((name) => [name, 'contentType'] as const),
  ...['cid', 'contentid', 'inlinecontentid'].map((name) => [name, 'contentId'] as const),
  ...['contentdisposition', 'disposition'].map((name) => [name, 'disposition'] as const),
])

/**
 * Fields of other mail APIs, which would otherwise be ignored and send the mail without its file.
 */
function refuseForeign(item: object, place: string): void {
  const hints = Object.keys(item).flatMap((name) => {
    const own = foreign.get(name.toLowerCase().replace(/[_-]/g, ''))
    return own === undefined || own === name ? [] : `write ${own} in place of ${name}`
  })
  if (hints.length > 0) throw refused(`${place}: ${hints.join(', ')}. Nothing was sent`)
}
