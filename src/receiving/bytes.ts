import { readContent, type StoredContent } from '../contents/index.js'
import type { Read } from '../store/index.js'
import { findReceived, findReceivedFile } from './mails.js'

/** A file of a mail for who has asked by the API: its bytes in base64. Throws a 404. */
export async function receivedFileAnswer(
  read: Read,
  accountId: string,
  id: string,
  number: number,
) {
  const { filename, contentType, sizeBytes, sha256, content } = await findReceivedFile(
    read,
    accountId,
    id,
    number,
  )
  const bytes = await base64Of(readContent(read, { id: content, sizeBytes }))
  return { filename, contentType, size: sizeBytes, sha256, content: bytes }
}

/** A mail as it came, in base64. Throws a 404. */
export async function receivedSourceAnswer(read: Read, accountId: string, id: string) {
  return { id, content: await base64Of(receivedSource(read, accountId, id)) }
}

/** A mail as it came, byte for byte, in pieces. Throws a 404 before the first. */
export async function* receivedSource(
  read: Read,
  accountId: string,
  id: string,
): AsyncGenerator<Buffer, void, undefined> {
  const { row } = await findReceived(read, accountId, id)
  const { header } = await read
    .selectFrom('received_headers')
    .select('header')
    .where('received_id', '=', id)
    .executeTakeFirstOrThrow()
  yield Buffer.concat([header, Buffer.from('\r\n')])
  const body: StoredContent = { id: row.content_id, sizeBytes: row.body_bytes }
  yield* readContent(read, body)
}

/** Others have their turn between the pieces. */
async function base64Of(pieces: AsyncIterable<Buffer>): Promise<string> {
  const texts: string[] = []
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const bytes: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    // RFC 4648 §4: three octets make four letters.
    const whole = bytes.length - (bytes.length % 3)
    texts.push(bytes.toString('base64', 0, whole))
    rest = bytes.subarray(whole)
  }
  texts.push(rest.toString('base64'))
  return texts.join('')
}
