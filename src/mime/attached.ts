import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type MailComposer from 'nodemailer/lib/mail-composer'
import { type BodyParts, rawPart } from './body.js'

/** A part's description; whoever sends the part puts in its bytes. */
export interface AttachedPart {
  filename: string
  /**
   * The type with its parameters. `text/calendar` with a `method` is an invitation (RFC 6047 §2.4).
   */
  contentType: string
  disposition: 'attachment' | 'inline'
  /** The id by which the HTML names it, without angle brackets (RFC 2392). */
  contentId?: string | undefined
  /** A number that is equal only for equal bytes. */
  content: number
}

/** A body without its attachments' bytes. */
export interface AttachedBody {
  /** The Content-* fields that describe it. */
  fields: string
  /**
   * The pieces in the order of sending; a number stands for that attachment's bytes, in lines of
   * base64.
   */
  pieces: readonly (Buffer | number)[]
  /** A text that is equal only for equal bodies. */
  digest: string
}

/**
 * A mail with attachments, in MailComposer's form: mixed contains alternative, which contains the HTML
 * related to its pictures. MailComposer gets marks in place of the attachments' bytes, and so handles
 * nothing large. The boundaries are made from the content: the same content gives the same bytes, whoever
 * gets the mail.
 */
export async function assembleAttached(
  parts: BodyParts,
  attachments: readonly AttachedPart[],
): Promise<AttachedBody> {
  const hash = createHash('sha256').update(JSON.stringify(attachments))
  for (const { type, encoding, data } of parts) hash.update(`\n${type} ${encoding} `).update(data)
  const digest = hash.digest('base64url')
  const marks: { text: string; attachment: number }[] = []
  // Nobody can write a text that contains a digest of itself, so a mark occurs only where it was put.
  const markOf = (attachment: number) => {
    const mark = createHash('sha256').update(`${digest} ${marks.length}`).digest()
    marks.push({ text: mark.toString('base64'), attachment })
    return mark
  }
  const built = await build({
    disableFileAccess: true,
    disableUrlAccess: true,
    boundaryPrefix: '=_',
    baseBoundary: digest.slice(0, 24),
    ...Object.fromEntries(parts.map((part) => [names[part.type], { raw: rawPart(part) }])),
    alternatives: attachments.flatMap(({ contentType }, i) => {
      const method = invitationMethod(contentType)
      if (method === undefined) return []
      const type = `text/calendar; charset=utf-8; method=${method}`
      return { contentType: type, contentTransferEncoding: 'base64', content: markOf(i) }
    }),
    attachments: attachments.map(({ contentType, contentId, disposition, filename }, i) => ({
      filename,
      // Calendars open the file; only the alternative asks for an answer.
      contentType: invitationMethod(contentType) ? 'application/ics' : contentType,
      cid: contentId,
      contentDisposition: disposition,
      content: markOf(i),
    })),
  })
  const headerEnd = built.indexOf('\r\n\r\n') + 2
  const fields = built.toString('latin1', 0, headerEnd).match(contentField)?.join('') ?? ''
  return { fields, pieces: split(built.subarray(headerEnd + 2), marks), digest }
}

/** The method of an invitation, in upper case; undefined for any other type. */
export function invitationMethod(contentType: string): string | undefined {
  if (!/^text\/calendar\s*(?:;|$)/i.test(contentType)) return undefined
  return /;\s*method\s*=\s*"?([a-z][a-z-]{0,30})"?\s*(?:;|$)/i.exec(contentType)?.[1]?.toUpperCase()
}

/** The media type of a file by its name; `application/octet-stream` if the name tells none. */
export const mediaTypeOf = (filename: string): string => mimeFuncs().detectMimeType(filename)

// Loaded on first use: each thread has this module, and few ever see an attachment.
const mimeFuncs = (): typeof import('nodemailer/lib/mime-funcs') =>
  createRequire(import.meta.url)('nodemailer/lib/mime-funcs')
const mailComposer = (): typeof MailComposer =>
  createRequire(import.meta.url)('nodemailer/lib/mail-composer')

const names = { 'text/plain': 'text', 'text/html': 'html' } as const
const contentField = /^content-[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*/gim

function build(mail: ConstructorParameters<typeof MailComposer>[0]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    ;new (mailComposer())(mail).compile().build((error, message) => {
      if (error || message === undefined) reject(error ?? new Error('MailComposer made nothing'))
      else resolve(message)
    })
  })
}

function split(
  body: Buffer,
  marks: readonly { text: string; attachment: number }[],
): (Buffer | number)[] {
  const places = marks.map(({ text, attachment }) => {
    const at = body.indexOf(text, 0, 'latin1')
    if (at === -1) throw new Error('MailComposer left an attachment out')
    return { at, end: at + text.length, attachment }
  })
  places.sort((a, b) => a.at - b.at)
  const pieces: (Buffer | number)[] = []
  let from = 0
  for (const { at, end, attachment } of places) {
    pieces.push(body.subarray(from, at), attachment)
    from = end
  }
  pieces.push(body.subarray(from))
  return pieces
}
