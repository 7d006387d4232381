import { createHash } from 'node:crypto'
import { type Ids, prepared, preparedInsert, type Tx } from '../store/index.js'

/** Bytes that are going to be stored: hashed, and cut into pieces that are views of what was given. */
export interface NewContent {
  /** SHA-256, in base64. */
  sha256: string
  sizeBytes: number
  pieces: readonly Buffer[]
}

/**
 * The bytes of a row. RFC 2045 §6.8: a line of base64 holds 57 bytes, so that each piece makes whole
 * lines by itself, and with them just fills 16 of SQLite's pages.
 */
export const pieceBytes = 57 * 1_149

/** Bytes in order as they come, in chunks of any size; a chunk is copied only where two share a piece. */
export function makeContent(chunks: Iterable<Buffer>): NewContent {
  const hash = createHash('sha256')
  const pieces: Buffer[] = []
  let sizeBytes = 0
  let waiting: Buffer[] = []
  let waitingBytes = 0
  const cut = () => {
    const [only] = waiting
    pieces.push(waiting.length === 1 && only ? only : Buffer.concat(waiting, waitingBytes))
    waiting = []
    waitingBytes = 0
  }
  for (const chunk of chunks) {
    hash.update(chunk)
    sizeBytes += chunk.length
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + pieceBytes - waitingBytes)
      waiting.push(part)
      waitingBytes += part.length
      from += part.length
      if (waitingBytes === pieceBytes) cut()
    }
  }
  if (waitingBytes > 0) cut()
  return { sha256: hash.digest('base64'), sizeBytes, pieces }
}

/**
 * Stores contents in the write of what uses them, each of them one use; resolves with their ids in the
 * same order. What the account has already is used once more and not written.
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
  for (const [sha256, { content, count }] of uses) {
    const hash = Buffer.from(sha256, 'base64')
    const [known] = await useAgain(tx, { accountId, hash, count })
    const id = known?.id ?? ids.serial()
    found.set(sha256, id)
    if (known !== undefined) continue
    const { sizeBytes: size_bytes, pieces } = content
    await insertContent(tx, { id, account_id: accountId, sha256: hash, size_bytes, uses: count })
    for (const [number, bytes] of pieces.entries()) {
      await insertPiece(tx, { content_id: id, number, bytes })
    }
  }
  return contents.map(({ sha256 }) => found.get(sha256) ?? 0)
}

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
