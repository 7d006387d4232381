import { setImmediate } from 'node:timers/promises'
import { pieceCount, readPiece, type StoredContent } from '../../contents/index.js'
import { encodeBase64 } from '../../mime/index.js'
import type { Read } from '../../store/index.js'

const lineEnd = Buffer.from('\r\n')

/**
 * Reads contents in lines of base64, without a line end after the last. What was read last is kept, up to
 * `mostBytes`: the recipients of one mail, and both passes of each, share the same buffers. Otherwise each mail would
 * leave a megabyte of garbage, faster than it is collected.
 */
export function makeEncodedContents(read: Read, mostBytes: number) {
  const kept = new Map<string, Buffer>()
  let keptBytes = 0

  const keep = (key: string, lines: Buffer) => {
    // Another stream has read the same piece meanwhile: its bytes are counted already.
    if (kept.has(key)) return
    kept.set(key, lines)
    keptBytes += lines.length
    for (const [oldest, { length }] of kept) {
      if (keptBytes <= mostBytes) break
      kept.delete(oldest)
      keptBytes -= length
    }
  }
  const linesOf = async (content: StoredContent, number: number, isLast: boolean) => {
    const key = `${content.id} ${number}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const lines = encodeBase64(await readPiece(read, content, number))
    const ended = isLast ? lines : Buffer.concat([lines, lineEnd])
    keep(key, ended)
    return ended
  }

  return async function* encoded(content: StoredContent): AsyncGenerator<Buffer> {
    const count = pieceCount(content)
    for (let number = 0; number < count; number++) {
      // Nothing here waits by itself: without this, a fast receiver would keep the thread from everything else.
      if (number > 0) await setImmediate()
      yield await linesOf(content, number, number === count - 1)
    }
  }
}
