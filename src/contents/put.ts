import { createHash } from 'node:crypto'
import { type Ids, prepared, preparedInsert, type Read, type Tx } from '../store/index.js'
import { addStoredBytes } from './stored-bytes.js'

/** Bytes that are going to be stored: hashed, and cut into pieces, which are read when they are written. */
export interface NewContent {
  /** SHA-256, in base64. */
  sha256: string
  sizeBytes: number
  pieces: Iterable<Buffer>
}

/**
 * The bytes of a row. RFC 2045 §6.8: a line of base64 holds 57 bytes. So each piece makes whole lines by itself, and
 * just fills 16 of SQLite's pages.
 */
export const pieceBytes = 57 * 1_149

/**
 * Bytes in order, in chunks of any size. The chunks are read here and again at the write, as a file can be; a chunk is
 * copied only where two share a piece.
 */
export function makeContent(chunks: Iterable<Buffer>): NewContent {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for (const chunk of chunks) {
    hash.update(chunk)
    sizeBytes += chunk.length
  }
  const pieces = { [Symbol.iterator]: () => cut(chunks) }
  return { sha256: hash.digest('base64'), sizeBytes, pieces }
}

function* cut(chunks: Iterable<Buffer>): Generator<Buffer, void, undefined> {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + pieceBytes - waitingBytes)
      waiting.push(part)
      waitingBytes += part.length
      from += part.length
      if (waitingBytes < pieceBytes) continue
      yield joined(waiting, waitingBytes)
      waiting = []
      waitingBytes = 0
    }
  }
  if (waitingBytes > 0) yield joined(waiting, waitingBytes)
}

function joined(parts: readonly Buffer[], bytes: number): Buffer {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, bytes)
}

/**
 * Stores contents in the write of what uses them, with one use each; resolves with their ids in the same order. A
 * content that the account already has gets one more use and is not written.
 */
export async function putContents(
  tx: Tx,
  { ids }: { ids: Pick<Ids, 'serial'> },
  accountId: string,
  contents: readonly NewContent[],
): Promise<number[]> {
  const uses = new Map<string, { content: NewContent; count: number }>()
  for (const content of contents) {
    const same = uses.get(content.sha256)
    if (same === undefined) uses.set(content.sha256, { content, count: 1 })
    else same.count++
  }
  const found = new Map<string, number>()
  let newBytes = 0
  for (const [sha256, { content, count }] of uses) {
    const hash = Buffer.from(sha256, 'base64')
    const [known] = await useAgain(tx, { accountId, hash, count })
    const id = known?.id ?? ids.serial()
    found.set(sha256, id)
    if (known !== undefined) continue
    const { sizeBytes: size_bytes, pieces } = content
    newBytes += size_bytes
    await insertContent(tx, { id, account_id: accountId, sha256: hash, size_bytes, uses: count })
    let number = 0
    for (const bytes of pieces) {
      await insertPiece(tx, { content_id: id, number, bytes })
      number++
    }
  }
  await addStoredBytes(tx, accountId, 'contents', newBytes)
  return contents.map(({ sha256 }) => found.get(sha256) ?? 0)
}

/** How many of these bytes the account has not stored yet. */
export async function bytesToStore(
  read: Read,
  accountId: string,
  contents: readonly NewContent[],
): Promise<number> {
  const sizes = new Map(contents.map(({ sha256, sizeBytes }) => [sha256, sizeBytes]))
  let bytes = 0
  for (const [sha256, sizeBytes] of sizes) {
    const hash = Buffer.from(sha256, 'base64')
    const [known] = await contentWith(read, { accountId, hash })
    if (known === undefined) bytes += sizeBytes
  }
  return bytes
}

const contentWith = prepared<{ accountId: string; hash: Buffer }, { id: number }>(
  (db, { accountId, hash }) =>
    db
      .selectFrom('contents')
      .select('id')
      .where('account_id', '=', accountId)
      .where('sha256', '=', hash),
)

const insertContent = preparedInsert('contents')
const insertPiece = preparedInsert('content_pieces')

const useAgain = prepared<{ accountId: string; hash: Buffer; count: number }, { id: number }>(
  (db, { accountId, hash, count }) =>
    db
      .updateTable('contents')
      .set((eb) => ({ uses: eb('uses', '+', count) }))
      .where('account_id', '=', accountId)
      .where('sha256', '=', hash)
      .returning('id'),
)
