import { createHash } from 'node:crypto'
import { ApiError } from '../errors/index.js'
import type { Exchange } from './exchange.js'
import { noBytes } from './incoming-body.js'
import { delimiterOf, malformed, maxHeaderBytes, maxParts, readPartHead } from './multipart.js'

/** A file while it arrives. */
export interface Upload {
  filename: string | undefined
  contentType: string
  /** Read at the caller's pace; throws if the body ends or stops arriving before the file's end. */
  bytes: AsyncIterable<Buffer>
}

/** A file that is hashed while it is read: a repeated request has other boundaries, but the same file. */
export interface DigestedUpload {
  open(): Promise<Upload>
  /** The fingerprint of a path and the whole file, unread parts included. */
  fingerprint(path: string): Promise<string>
}

/**
 * The file in a form's `field`, hashed while it is read, so that a repeat of the request is known
 * without keeping the file.
 */
export function openDigestedUpload(
  exchange: Exchange,
  contentType: string | undefined,
  field: string,
): DigestedUpload {
  const hash = createHash('sha256')
  let upload: Upload | undefined
  async function* digested(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of bytes) {
      hash.update(piece)
      yield piece
    }
  }
  const open = async () => {
    const opened = await openUpload(exchange.bodyPieces(), contentType, field)
    upload = { ...opened, bytes: digested(opened.bytes) }
    return upload
  }
  return {
    open,
    async fingerprint(path) {
      for await (const _ of (upload ?? (await open())).bytes);
      return hash.copy().update(`\n${path}`).digest('base64')
    },
  }
}

/** Reads a multipart/form-data body up to the file in `field`, and skips the parts before it. */
export async function openUpload(
  pieces: AsyncGenerator<Buffer>,
  contentType = '',
  field = 'file',
): Promise<Upload> {
  if (contentType.split(';')[0]?.trim().toLowerCase() !== 'multipart/form-data') {
    throw new ApiError('unsupported_media_type', 'Send the body as multipart/form-data')
  }
  const reader = makeReader(pieces)
  const delimiter = delimiterOf(contentType)
  await skip(reader.until(delimiter))
  for (let parts = 0; parts < maxParts; parts++) {
    // RFC 2046 §5.1.1: blanks may follow a delimiter, and two hyphens the last one.
    const rest = (await whole(reader.until(lineEnd), maxHeaderBytes)).toString('latin1')
    if (rest.startsWith('--')) break
    if (rest.trim() !== '') throw malformed('a boundary is not followed by a line end')
    const head = await whole(reader.until(headEnd), maxHeaderBytes)
    const part = readPartHead(head.toString('utf8'))
    if (part.name === field) {
      return { ...part, bytes: reader.until(delimiter) }
    }
    await skip(reader.until(delimiter))
  }
  throw new ApiError('validation_error', `The form has no field "${field}" with a file`)
}

const lineEnd = Buffer.from('\r\n')
const headEnd = Buffer.from('\r\n\r\n')

interface Reader {
  /** The bytes before `mark`, in pieces; the mark itself is skipped. */
  until(mark: Buffer): AsyncGenerator<Buffer>
}

function makeReader(pieces: AsyncGenerator<Buffer>): Reader {
  // The first delimiter may be at the very start, without a line end before it; the last one may
  // have no line end after it.
  let held: Buffer = lineEnd
  let ended = false
  const more = async () => {
    const { done, value } = await pieces.next()
    if (ended) throw malformed('the closing boundary is missing')
    ended = done === true
    held = Buffer.concat([held, done ? lineEnd : value])
  }
  return {
    async *until(mark) {
      for (;;) {
        const at = held.indexOf(mark)
        if (at !== -1) {
          const before = held.subarray(0, at)
          held = held.subarray(at + mark.length)
          if (before.length > 0) yield before
          return
        }
        // The mark may begin at the end of the present bytes.
        const sure = held.length - mark.length + 1
        if (sure > 0) {
          const before = held.subarray(0, sure)
          held = held.subarray(sure)
          yield before
        }
        await more()
      }
    },
  }
}

async function whole(pieces: AsyncGenerator<Buffer>, maxBytes: number): Promise<Buffer> {
  let all: Buffer = noBytes
  for await (const piece of pieces) {
    all = Buffer.concat([all, piece])
    if (all.length > maxBytes) throw malformed('a part has no header section')
  }
  return all
}

async function skip(pieces: AsyncGenerator<Buffer>): Promise<void> {
  for await (const _ of pieces);
}
