import { type MessageContent, readMessageContent } from '../mime/index.js'
import type { OperatorMailRow, Read, Tx } from '../store/index.js'

/** A mail to postmaster@ or abuse@. Everything in it is the sender's. */
export interface OperatorMail {
  id: number
  receivedAt: number
  recipient: string
  /** The sender of the envelope; empty for the null sender. */
  mailFrom: string
  headerFrom: string
  subject: string
  remoteAddress: string
  sizeBytes: number
}

/** Newest first; only mails before the given id. */
export async function listOperatorMails(
  read: Read,
  limit: number,
  before?: number,
): Promise<OperatorMail[]> {
  const rows = await read
    .selectFrom('operator_mails')
    .selectAll()
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(fromRow)
}

/** A mail to the operator with its text and its source; undefined for an unknown id. */
export async function findOperatorMail(
  read: Read,
  id: number,
): Promise<(OperatorMail & { content: MessageContent; raw: Buffer }) | undefined> {
  const row = await read
    .selectFrom('operator_mails')
    .innerJoin('operator_mail_sources', 'operator_mail_sources.id', 'operator_mails.id')
    .selectAll('operator_mails')
    .select('raw')
    .where('operator_mails.id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return { ...fromRow(row), raw: row.raw, content: await readMessageContent(row.raw) }
}

/** Returns whether there was one. */
export async function deleteOperatorMail(tx: Tx, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('operator_mails')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0
}

/** A row as pages and commands show it. */
const fromRow = (row: OperatorMailRow): OperatorMail => ({
  id: row.id,
  receivedAt: row.received_at,
  recipient: row.recipient,
  mailFrom: row.mail_from,
  headerFrom: row.header_from,
  subject: row.subject,
  remoteAddress: row.remote_address,
  sizeBytes: row.size_bytes,
})
