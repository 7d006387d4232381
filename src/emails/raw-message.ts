import { type NewContent, putContents } from '../contents/index.js'
import type { MessagePart } from '../mime/index.js'
import { preparedInsert, type Store, type Tx } from '../store/index.js'

/** A message that a program wrote as a whole, and that leaves unchanged. */
export interface RawMessage {
  /** With its angle brackets. */
  messageId: string
  /** The fields that leave, each ended by CRLF, without those added to each recipient's copy. */
  header: Buffer
  body: NewContent
  /**
   * `bh=` of the body in relaxed form (RFC 6376 §3.4.4), so that each copy has to read it only
   * once.
   */
  bodyHash: string
  /** The body has octets over 127. */
  eightBit: boolean
  /** The header has such octets: only servers that offer SMTPUTF8 can take it (RFC 6532). */
  smtpUtf8: boolean
  /** The parts that may get tracked links and a footer; null if nothing may be changed. */
  parts: ChangeableParts | null
}

/** The places of parts in the body. */
export interface ChangeableParts {
  html: MessagePart
  /** Undefined if there is none, or more than one. */
  text?: MessagePart | undefined
}

const insertRaw = preparedInsert('raw_messages')

/** Writes the message beside its mail. */
export async function insertRawMessage(
  tx: Tx,
  { ids }: Pick<Store, 'ids'>,
  { id, account_id }: { id: string; account_id: string },
  raw: RawMessage,
): Promise<void> {
  const [contentId = 0] = await putContents(tx, { ids }, account_id, [raw.body])
  await insertRaw(tx, {
    email_id: id,
    header: raw.header,
    content_id: contentId,
    body_bytes: raw.body.sizeBytes,
    body_hash: raw.bodyHash,
    eight_bit: raw.eightBit ? 1 : 0,
    smtp_utf8: raw.smtpUtf8 ? 1 : 0,
    parts: raw.parts === null ? null : JSON.stringify(raw.parts),
  })
}
