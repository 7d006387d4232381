import { setImmediate } from 'node:timers/promises'
import { prepared, type Read, storedJson } from '../store/index.js'
import { pieceBytes } from './put.js'

/** What must be known of a content to read it. */
export interface StoredContent {
  id: number
  sizeBytes: number
}

/**
 * The bytes in order, a row at a time and only as fast as they are taken. No statement stays open between two pieces,
 * so that a slow receiver does not keep a log from being checkpointed. Throws when the content is not whole.
 */
export async function* readContent(
  read: Read,
  content: StoredContent,
): AsyncGenerator<Buffer, void, undefined> {
  for (let number = 0; number < pieceCount(content); number++) {
    // SQLite answers at once, and a fast reader would keep the thread from everything else.
    if (number > 0) await setImmediate()
    yield await readPiece(read, content, number)
  }
}

/** The bytes from one place up to another, read the same way. */
export async function* readContentRange(
  read: Read,
  content: StoredContent,
  from: number,
  to: number,
): AsyncGenerator<Buffer, void, undefined> {
  let at = from
  for (let number = Math.floor(from / pieceBytes); at < Math.min(to, content.sizeBytes); number++) {
    const start = number * pieceBytes
    const part = (await readPiece(read, content, number)).subarray(at - start, to - start)
    at += part.length
    yield part
  }
}

/** How many pieces the content is stored in; each but the last has `pieceBytes`. */
export const pieceCount = ({ sizeBytes }: StoredContent) => Math.ceil(sizeBytes / pieceBytes)

/** Reads one piece, counted from 0. Throws when it is missing or not as it was stored. */
export async function readPiece(
  read: Read,
  { id, sizeBytes }: StoredContent,
  number: number,
): Promise<Buffer> {
  const [piece] = await pieceOf(read, { id, number })
  const wanted = Math.min(pieceBytes, sizeBytes - number * pieceBytes)
  if (piece?.bytes.length === wanted) return piece.bytes
  throw new Error(`Content ${id} is damaged: piece ${number} should have ${wanted} bytes`)
}

const pieceOf = prepared<{ id: number; number: number }, { bytes: Buffer }>((db, { id, number }) =>
  db
    .selectFrom('content_pieces')
    .select('bytes')
    .where('content_id', '=', id)
    .where('number', '=', number),
)

/** An attachment as its body lists it (`bodies.attachments`, a JSON array of these). */
export interface Attachment {
  /** The id of its content. */
  content: number
  sizeBytes: number
  filename: string
  /** A media type with its parameters. */
  contentType: string
  disposition: 'attachment' | 'inline'
  /** The id by which the HTML names it, without angle brackets (RFC 2392). */
  contentId?: string
}

/** What a body carries; null is nothing. Undefined where the column is damaged. */
export function attachmentsOf(json: string | null): Attachment[] | undefined {
  const value = storedJson(json)
  if (value === null) return []
  return Array.isArray(value) ? value : undefined
}
