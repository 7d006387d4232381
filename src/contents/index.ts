/**
 * Bytes that mails carry: attachments, and messages as their programs wrote them. What must hold: equal
 * bytes are stored once within an account and never shared between accounts; a content that has a use is
 * whole; nobody ever holds more than one piece of it, in memory or in a row. See README.md.
 */

export { deleteUnused, releaseContents, reuseContents } from './forget.js'
export { bytesToStore, makeContent, type NewContent, pieceBytes, putContents } from './put.js'
export {
  type Attachment,
  attachmentsOf,
  pieceCount,
  readContent,
  readContentRange,
  readPiece,
  type StoredContent,
} from './read.js'
export { addStoredBytes, type StoredKind, storedBytesOf } from './stored-bytes.js'
