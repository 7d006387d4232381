import { readContent, type StoredContent } from '../contents/index.js'
import type { Read } from '../store/index.js'
import { findReceived } from './mails.js'

/** A mail as it came, byte for byte, in pieces. Throws a 404. */
export async function receivedSource(read: Read, accountId: string, id: string) {
  const { row } = await findReceived(read, accountId, id)
  const { header } = await read
    .selectFrom('received_headers')
    .select('header')
    .where('received_id', '=', id)
    .executeTakeFirstOrThrow()
  const body: StoredContent = { id: row.content_id, sizeBytes: row.body_bytes }
  return { sizeBytes: row.size_bytes, pieces: sourceOf(read, header, body) }
}

async function* sourceOf(read: Read, header: Buffer, body: StoredContent) {
  yield Buffer.concat([header, Buffer.from('\r\n')])
  yield* readContent(read, body)
}

/** Encodes piece by piece; other work has its turn in between. */
export async function* base64Of(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const bytes: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    // RFC 4648 §4: three octets make four letters.
    const whole = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, whole)
    rest = bytes.subarray(whole)
  }
  yield rest.toString('base64')
}
