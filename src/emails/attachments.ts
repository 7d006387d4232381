import { isUtf8 } from 'node:buffer'
import type { Clock } from '../clock/index.js'
import { type Attachment, makeContent, type NewContent, putContents } from '../contents/index.js'
import { base64Size, invitationMethod } from '../mime/index.js'
import type { Store, Tx } from '../store/index.js'
import { type AskedAttachment, readAttachmentFields, refused } from './attachment-fields.js'
import type { FetchFile } from './fetch-file.js'

/** What mails may carry. */
export interface AttachmentRules {
  /** The total size of one mail's attachments, as bytes and not in base64. */
  maxBytes: number
  maxCount: number
  fetchFile: FetchFile
}

/** An attachment that is going to be stored with its mail. */
export interface NewAttachment extends Omit<Attachment, 'content' | 'sizeBytes'> {
  content: NewContent
}

/** How long the body of a request may be for one mail with attachments of this size in base64. */
export const maxSendBytes = (maxBytes: number) => maxOtherBytes + base64Size(maxBytes)

// Text and HTML, in their longest form as JSON.
const maxOtherBytes = 10 * 1024 * 1024

/** Reads the attachments of one request's mails; equal ones are made once. */
export interface AttachmentReader {
  /** Checks what can be checked without fetching anything; throws a 422. */
  check(
    items: readonly unknown[] | undefined,
    /** The attachments that the mail has beside its own. */
    shared?: readonly AskedAttachment[],
  ): readonly AskedAttachment[]
  /**
   * Gets the bytes of checked attachments; throws a 422 for one that cannot be fetched or is too
   * large.
   */
  take(asked: readonly AskedAttachment[]): Promise<readonly NewAttachment[]>
}

// A client whose mail waits for files is answered within this time, however many files there are.
const maxFetchingMs = 20_000
/**
 * How much is fetched for all mails of a request; attachments in the request itself fit, as its size is
 * bounded.
 */
const maxFetchedBytes = 64 * 1024 * 1024

/**
 * Equal attachments are decoded and hashed once: a batch often carries the same file in every mail.
 */
export function makeAttachmentReader(
  {
    clock,
    attachments: { maxBytes, maxCount, fetchFile },
  }: { clock: Clock; attachments: AttachmentRules },
  accountId: string,
): AttachmentReader {
  const decoded = new Map<string, NewContent>()
  const fetched = new Map<string, Promise<NewContent>>()
  let fetchUntil: number | undefined
  let fetchedBytes = 0

  const decodedOf = (base64: string, place: string) => {
    const known = decoded.get(base64)
    if (known !== undefined) return known
    const content = makeContent([decodeBase64(base64, place)])
    decoded.set(base64, content)
    return content
  }
  const fetchedOf = (url: string, place: string) => {
    const known = fetched.get(url)
    if (known !== undefined) return known
    fetchUntil ??= clock.now() + maxFetchingMs
    const limits = { withinMs: Math.max(1, fetchUntil - clock.now()), maxBytes, accountId }
    const content = fetchFile(url, limits).then((found) => {
      if ('failed' in found) throw refused(`${place}.url: ${found.failed}`)
      const made = makeContent(found.pieces)
      fetchedBytes += made.sizeBytes
      if (fetchedBytes <= maxFetchedBytes) return made
      throw refused(`${place}.url: the files of this request have over ${maxFetchedBytes} bytes`)
    })
    fetched.set(url, content)
    return content
  }

  return {
    check(items, shared = []) {
      if (items === undefined || items.length === 0) return shared
      const asked = readAttachmentFields(items, maxCount, shared)
      // If the base64 alone is too large, nothing is decoded.
      let chars = 0
      for (const { source } of asked) chars += 'base64' in source ? source.base64.length : 0
      if (chars > 2 * maxBytes) throw tooLarge(maxBytes)
      let sizeBytes = 0
      for (const { source, place } of asked) {
        if ('base64' in source) sizeBytes += decodedOf(source.base64, place).sizeBytes
      }
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
      return asked
    },
    async take(asked) {
      const taken: NewAttachment[] = []
      let sizeBytes = 0
      for (const { place, source, ...fields } of asked) {
        const content = await ('url' in source
          ? fetchedOf(source.url, place)
          : decodedOf(source.base64, place))
        sizeBytes += content.sizeBytes
        if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
        checkInvitation(fields.contentType, content, place)
        taken.push({ ...fields, content })
      }
      return taken
    },
  }
}

/**
 * Stores attachments in the write of the body that carries them; resolves with its column
 * `attachments`.
 */
export async function putAttachments(
  tx: Tx,
  store: Pick<Store, 'ids'>,
  accountId: string,
  attachments: readonly NewAttachment[],
): Promise<string | null> {
  if (attachments.length === 0) return null
  const contents = attachments.map(({ content }) => content)
  const ids = await putContents(tx, store, accountId, contents)
  const stored = attachments.map(
    ({ content, ...fields }, i): Attachment => ({
      ...fields,
      content: ids[i] ?? 0,
      sizeBytes: content.sizeBytes,
    }),
  )
  return JSON.stringify(stored)
}

/** A text that is equal for mails with the same attachments; empty without any. */
export const attachmentsKey = (attachments: readonly NewAttachment[]): string =>
  attachments.length === 0
    ? ''
    : JSON.stringify(attachments.map((one) => ({ ...one, content: one.content.sha256 })))

const tooLarge = (maxBytes: number) =>
  refused(`attachments: over ${maxBytes} bytes together (decoded), and that is the limit`)

/**
 * RFC 4648 §4. Node's decoder skips unknown characters, and stops at a `=`: a text that was cut
 * off, or is no base64, would become another file.
 */
function decodeBase64(given: string, place: string): Buffer {
  const text = /\s/.test(given) ? given.replace(/[ \t\r\n]+/g, '') : given
  const bytes = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const isWhole = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding
  if (text.startsWith('data:')) {
    throw refused(`${place}.content: expected only base64, without "data:…;base64," before it`)
  }
  if (!isWhole || text.includes('-') || text.includes('_')) {
    throw refused(`${place}.content: is not base64 (RFC 4648 §4, with = at its end where needed)`)
  }
  if (bytes.length === 0) throw refused(`${place}.content: is empty`)
  return bytes
}

/** RFC 6047 §2.4: the method in an invitation's type must be the one in its calendar. */
function checkInvitation(contentType: string, content: NewContent, place: string): void {
  const method = invitationMethod(contentType)
  if (method === undefined) return
  const text = Buffer.concat([...content.pieces])
  const [, said] = /^METHOD(?:;[^:\r\n]*)?:[ \t]*([\w-]+)/im.exec(text.toString('utf8')) ?? []
  if (isUtf8(text) && said?.toUpperCase() === method) return
  throw refused(
    `${place}: an invitation of method ${method} has to be a calendar in UTF-8 with the line METHOD:${method}`,
  )
}
