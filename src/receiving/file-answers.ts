import { readContent } from '../contents/index.js'
import type { Read } from '../store/index.js'
import { base64Of, receivedSource } from './bytes.js'
import { findReceivedFile } from './mails.js'

/** An answer whose field `content` may be long. */
export interface AnswerWithContent {
  told: Readonly<Record<string, unknown>>
  /** In base64. */
  content: AsyncIterable<string>
  sizeBytes: number
}

/** A file of a mail, for a client of the API. Throws a 404. */
export async function receivedFileAnswer(
  read: Read,
  accountId: string,
  id: string,
  number: number,
): Promise<AnswerWithContent> {
  const found = await findReceivedFile(read, accountId, id, number)
  const { filename, contentType, sizeBytes, sha256, content } = found
  const told = { filename, contentType, size: sizeBytes, sha256 }
  return { told, content: base64Of(readContent(read, { id: content, sizeBytes })), sizeBytes }
}

/** A mail as it came. Throws a 404. */
export async function receivedSourceAnswer(
  read: Read,
  accountId: string,
  id: string,
): Promise<AnswerWithContent> {
  const { sizeBytes, pieces } = await receivedSource(read, accountId, id)
  return { told: { id }, content: base64Of(pieces), sizeBytes }
}
