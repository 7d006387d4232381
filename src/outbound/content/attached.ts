import { isAscii } from 'node:buffer'
import { keepNewest } from '../../bounded/index.js'
import type { Attachment } from '../../contents/index.js'
import { hashBody, type ToSign } from '../../dkim/index.js'
import { base64Size, composeAttached, type MessageInput } from '../../mime/index.js'
import type { StreamedMessage } from '../../smtp/index.js'
import type { Read } from '../../store/index.js'
import { makeEncodedContents } from './encoded-contents.js'

/** The end of a line; after a header's last one it makes the blank line. */
export const blankLine = Buffer.from('\r\n')

/** The size of all pieces, in bytes. */
export const sum = (pieces: readonly Buffer[]) =>
  pieces.reduce((bytes, piece) => bytes + piece.length, 0)

// The memory that a stream of contents is taken to hold: a piece as stored, the same in base64, and a block that is
// being sent.
const windowBytes = 256 * 1024
// Contents in base64 that a thread keeps: some files that many recipients get at the same time.
const maxEncodedBytes = 4 * 1024 * 1024
// A body hash has 44 characters. The deliveries of a mail to many come close together.
const maxHashes = 1_000

/**
 * Composes mail with attachments: their bytes are read from the store when the mail is signed, for the hash of the
 * body, and again when it is sent. They are never held as a whole.
 */
export function makeAttached(read: Read) {
  const hashes = new Map<string, Promise<string>>()
  const encoded = makeEncodedContents(read, maxEncodedBytes)

  /** The hash is made once for equal bodies: those of one mail, or of a campaign that merges nothing. */
  const hashOf = (digest: string, body: () => AsyncIterable<Buffer>): Promise<string> => {
    const known = hashes.get(digest)
    if (known !== undefined) return known
    const hash = hashBody(body())
    keepNewest(hashes, digest, hash, maxHashes)
    hash.catch(() => hashes.delete(digest))
    return hash
  }

  return {
    async compose(
      input: MessageInput,
      attachments: readonly Attachment[],
      sign: (message: ToSign) => Promise<Buffer>,
    ): Promise<{ message: StreamedMessage; heldBytes: number; smtpUtf8: boolean }> {
      const { header, customNames, smtpUtf8, digest, pieces } = await composeAttached(
        input,
        attachments,
      )
      async function* body(): AsyncGenerator<Buffer> {
        for (const piece of pieces) {
          if (typeof piece !== 'number') yield piece
          else {
            const { content: id, sizeBytes } = attachmentAt(attachments, piece)
            yield* encoded({ id, sizeBytes })
          }
        }
      }
      const signatures = await sign({ header, customNames, bodyHash: await hashOf(digest, body) })
      const head = [signatures, header, blankLine]
      const held = [...head, ...pieces.filter((piece) => typeof piece !== 'number')]
      let sizeBytes = sum(held)
      for (const piece of pieces) {
        if (typeof piece === 'number') {
          sizeBytes += base64Size(attachmentAt(attachments, piece).sizeBytes)
        }
      }
      const message: StreamedMessage = {
        sizeBytes,
        eightBit: !held.every(isAscii),
        async *read() {
          yield* head
          yield* body()
        },
      }
      return { message, heldBytes: sum(held) + windowBytes, smtpUtf8 }
    },
  }
}

/** The attachment that a piece of the message stands for. */
function attachmentAt(attachments: readonly Attachment[], place: number): Attachment {
  const attachment = attachments[place]
  if (attachment === undefined) throw new Error(`No attachment ${place}`)
  return attachment
}
