import { isAscii } from 'node:buffer'
import {
  pieceBytes,
  readContent,
  readContentRange,
  type StoredContent,
} from '../../contents/index.js'
import { hashBody, type ToSign } from '../../dkim/index.js'
import type { ChangeableParts } from '../../emails/index.js'
import { type MessagePart, partWithText, structuredField, textOfPart } from '../../mime/index.js'
import type { StreamedMessage } from '../../smtp/index.js'
import { prepared, type RawMessageRow, type Read } from '../../store/index.js'
import { blankLine, sum } from './attached.js'

/** The text of a mail, and the header fields that its copies carry. */
export interface Decorated {
  html: string
  text: string
  extraHeaders: { name: string; value: string }[]
}

// The memory that a stream is taken to hold: a piece as it is stored, and a block that is being sent.
const windowBytes = 192 * 1024
// A larger HTML part is sent as it is, without tracking or footer: it would be held once for each
// recipient at the same time.
const maxHtmlBytes = 2 * 1024 * 1024

/** A stretch of the stored body, or the bytes that replace it. */
type Segment = { from: number; to: number } | Buffer

/**
 * Messages that programs wrote, as each recipient gets them: byte for byte, except for tracked links and a footer in
 * the parts that may have them, and our own fields before theirs.
 */
export function makeSubmitted(read: Read) {
  const { textOf, rangeOf } = makeBodyReader(read)

  /** The header and the body, with changed text in its parts. */
  const changed = async (
    row: RawMessageRow,
    changes: readonly { part: MessagePart; text: string }[],
  ): Promise<{ header: Buffer; segments: Segment[] }> => {
    let { header } = row
    const segments: Segment[] = []
    let at = 0
    for (const { part, text } of [...changes].sort((a, b) => a.part.start - b.part.start)) {
      const { headerStart, start, end } = part
      if (headerStart === undefined) {
        const whole = partWithText(part, header, text)
        header = whole.header
        segments.push(whole.octets)
      } else {
        // Without the blank line between header and body.
        const own = await rangeOf(row, headerStart, start - blankLine.length)
        const written = partWithText(part, own, text)
        segments.push({ from: at, to: headerStart }, written.header, blankLine, written.octets)
      }
      at = end
    }
    segments.push({ from: at, to: row.body_bytes })
    return { header, segments }
  }

  const contentIn = async (row: RawMessageRow) => {
    const parts = row.parts === null ? null : (JSON.parse(row.parts) as ChangeableParts)
    return {
      parts,
      html: await textOf(row, parts?.html),
      text: await textOf(row, parts?.text),
    }
  }

  return {
    contentIn,

    /** Undefined: no program wrote this mail's message. */
    async find(emailId: string): Promise<RawMessageRow | undefined> {
      const [row] = await rawMessage(read, { emailId })
      return row
    },

    async compose(
      row: RawMessageRow,
      decorate: (content: { html: string; text: string }) => Promise<Decorated>,
      { sign, firstField }: { sign: (message: ToSign) => Promise<Buffer>; firstField: string },
    ): Promise<{
      message: StreamedMessage | readonly Buffer[]
      heldBytes: number
      smtpUtf8: boolean
    }> {
      const { parts, html, text } = await contentIn(row)
      const decorated = await decorate({ html: html ?? '', text: text ?? '' })
      const changes: { part: MessagePart; text: string }[] = []
      if (parts !== null && html !== undefined && decorated.html !== html) {
        changes.push({ part: parts.html, text: decorated.html })
      }
      if (parts?.text !== undefined && text !== undefined && decorated.text !== text) {
        changes.push({ part: parts.text, text: decorated.text })
      }
      const own = decorated.extraHeaders.map(({ name, value }) => structuredField(name, value))
      const { header: theirs, segments } = await changed(row, changes)
      const header = Buffer.concat([Buffer.from(firstField + own.join('')), theirs])
      async function* body(): AsyncGenerator<Buffer> {
        for (const segment of segments) {
          if (Buffer.isBuffer(segment)) yield segment
          else if (segment.from === 0 && segment.to === row.body_bytes) {
            yield* readContent(read, contentOf(row))
          } else yield* readContentRange(read, contentOf(row), segment.from, segment.to)
        }
      }
      const bodyHash = changes.length === 0 ? row.body_hash : await hashBody(body())
      const head = [await sign({ header, bodyHash }), header, blankLine]
      const held = sum([...head, ...segments.filter((segment) => Buffer.isBuffer(segment))])
      const bodyBytes = bytesOf(segments)
      const smtpUtf8 = row.smtp_utf8 === 1
      if (bodyBytes <= pieceBytes) {
        const pieces = [...head]
        for await (const piece of body()) pieces.push(piece)
        return { message: pieces, heldBytes: sum(pieces), smtpUtf8 }
      }
      const message: StreamedMessage = {
        sizeBytes: sum(head) + bodyBytes,
        eightBit: row.eight_bit === 1 || !isAscii(header),
        async *read() {
          yield* head
          yield* body()
        },
      }
      return { message, heldBytes: held + windowBytes, smtpUtf8 }
    },
  }
}

/** Where the body is stored. */
const contentOf = (row: RawMessageRow): StoredContent => ({
  id: row.content_id,
  sizeBytes: row.body_bytes,
})

/** How long the segments are together. */
const bytesOf = (segments: readonly Segment[]) =>
  segments.reduce(
    (bytes, one) => bytes + (Buffer.isBuffer(one) ? one.length : one.to - one.from),
    0,
  )

/** Reads stretches of a stored body. */
function makeBodyReader(read: Read) {
  const textOf = async (row: RawMessageRow, part: MessagePart | undefined) => {
    if (part === undefined || part.end - part.start > maxHtmlBytes) return undefined
    return textOfPart(part, await rangeOf(row, part.start, part.end))
  }
  const rangeOf = async (row: RawMessageRow, from: number, to: number): Promise<Buffer> => {
    const pieces: Buffer[] = []
    for await (const piece of readContentRange(read, contentOf(row), from, to)) pieces.push(piece)
    return Buffer.concat(pieces)
  }
  return { textOf, rangeOf }
}

const rawMessage = prepared<{ emailId: string }, RawMessageRow>((db, { emailId }) =>
  db.selectFrom('raw_messages').selectAll().where('email_id', '=', emailId),
)
