import { setImmediate } from 'node:timers/promises'
import { prepared, type Read } from '../store/index.js'
import { pieceBytes } from './put.js'

/** What there is to know of a content to read it. */
export interface StoredContent {
  id: number
  sizeBytes: number
}

/**
 * The bytes in order, a row at a time and only as fast as they are taken: no statement stays open between
 * two pieces, so that a slow receiver keeps no log from being checkpointed. Throws when it is not whole.
 */
export async function* readContent(
  read: Read,
  { id, sizeBytes }: StoredContent,
): AsyncGenerator<Buffer, void, undefined> {
  let leftBytes = sizeBytes
  for (let number = 0; leftBytes > 0; number++) {
    // SQLite answers at once, and a fast reader would keep the thread from everything else.
    if (number > 0) await setImmediate()
    const [piece] = await pieceOf(read, { id, number })
    if (piece === undefined) break
    leftBytes -= piece.bytes.length
    yield piece.bytes
  }
  if (leftBytes !== 0) {
    throw damaged(id, sizeBytes)
  }
}

/** The bytes from one place up to another, read the same way. */
export async function* readContentRange(
  read: Read,
  { id, sizeBytes }: StoredContent,
  from: number,
  to: number,
): AsyncGenerator<Buffer, void, undefined> {
  let at = from
  for (let number = Math.floor(from / pieceBytes); at < Math.min(to, sizeBytes); number++) {
    const [piece] = await pieceOf(read, { id, number })
    const start = number * pieceBytes
    const part = piece?.bytes.subarray(at - start, to - start)
    if (part === undefined || part.length === 0) throw damaged(id, sizeBytes)
    at += part.length
    yield part
  }
}

const damaged = (id: number, sizeBytes: number) =>
  new Error(`Content ${id} is damaged: it should have ${sizeBytes} bytes`)

const pieceOf = prepared<{ id: number; number: number }, { bytes: Buffer }>((db, { id, number }) =>
  db
    .selectFrom('content_pieces')
    .select('bytes')
    .where('content_id', '=', id)
    .where('number', '=', number),
)
