import type { Plans } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { makeContent, type NewContent, putContents } from '../contents/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { preparedInsert, type Store, type Tx } from '../store/index.js'
import { enqueueReceived } from '../webhooks/index.js'
import { answeredMail } from './answered.js'
import type { ReadableRow } from './arrive.js'
import type { Forwarding } from './forward.js'
import type { KeptAttachment, KeptHeader } from './kept.js'
import { receivedPayload } from './payload.js'
import { headerOf, type ReadMail } from './read-mail.js'

/** What settling a mail needs. */
export interface SettleDeps {
  store: Store
  clock: Clock
  plans: Plans
}

/**
 * Writes down what was read in a mail, and all that follows from it, in one transaction; resolves with what to ring
 * for. A mail that was deleted, or settled before, is left as it is.
 */
export async function settleRead(
  { store, clock, plans }: SettleDeps,
  row: ReadableRow,
  read: ReadMail,
  forwarding: Forwarding | undefined,
): Promise<StreamDue[]> {
  const named = [read.inReplyTo, ...read.references]
  // The answered mail was sent before this one, so the search is done before the write.
  const emailId = await answeredMail(store.read, row.account_id, named)
  const contents = contentsOf(read)
  return await store.write(async (tx) => {
    if (!(await isWaiting(tx, row.id))) return []
    const attachments = await keepAttachments(tx, store, row.account_id, read, contents)
    const sent = forwarding?.fault === undefined ? await forwarding?.post(tx) : undefined
    const changes = {
      due_at: null,
      subject: read.subject || row.subject,
      header_from: read.from || row.header_from,
      message_id: read.messageId,
      in_reply_to: read.inReplyTo,
      email_id: emailId ?? null,
      attachments: attachments.length,
      spf: read.verdicts.spf.result,
      dkim: bestOf(read.verdicts.dkim.map(({ result }) => result)),
      dmarc: read.verdicts.dmarc.result,
      arc: read.verdicts.arc?.result ?? 'none',
      automatic: read.automatic?.slice(0, 200) ?? null,
      is_loop: row.is_loop,
      forward_id: sent?.id ?? null,
      forward_fault: forwarding?.fault ?? null,
      fault: read.fault,
    }
    await tx.updateTable('received').set(changes).where('id', '=', row.id).execute()
    const header: KeptHeader = { to: read.to, references: read.references, fields: read.headers }
    await insertTexts(tx, {
      received_id: row.id,
      text: read.text,
      quoted: read.quoted,
      html: read.html,
      headers: JSON.stringify(header),
      attachments: JSON.stringify(attachments),
      results: JSON.stringify(read.verdicts),
    })
    if (row.action === 'webhook') {
      const now = clock.now()
      const whole = { ...row, ...changes }
      const body = () => receivedPayload(whole, read, attachments)
      const told = { accountId: row.account_id, receivedId: row.id, body, now }
      await enqueueReceived(tx, plans, told)
    }
    return sent?.due ?? []
  })
}

/** For a mail whose reading was broken off: keeps the message itself, and what its header says. */
export async function settleUnreadable(
  { store, clock, plans }: SettleDeps,
  row: ReadableRow,
  raw: Buffer,
): Promise<void> {
  const read = headerOf(raw)
  const named = [read.inReplyTo, ...read.references]
  const emailId = await answeredMail(store.read, row.account_id, named)
  await store.write(async (tx) => {
    if (!(await isWaiting(tx, row.id))) return
    const changes = {
      due_at: null,
      subject: read.subject || row.subject,
      header_from: read.from || row.header_from,
      message_id: read.messageId,
      in_reply_to: read.inReplyTo,
      email_id: emailId ?? null,
      forward_fault: row.action === 'forward' ? 'It cannot be read' : null,
      fault: 'Taking it apart takes too much time or memory',
    }
    await tx.updateTable('received').set(changes).where('id', '=', row.id).execute()
    const header: KeptHeader = { to: read.to, references: read.references, fields: read.headers }
    await insertTexts(tx, {
      received_id: row.id,
      text: null,
      quoted: null,
      html: null,
      headers: JSON.stringify(header),
      attachments: '[]',
      results: 'null',
    })
    if (row.action !== 'webhook') return
    const whole = { ...row, ...changes }
    const body = () => receivedPayload(whole, { ...read, text: null, html: null }, [])
    const told = { accountId: row.account_id, receivedId: row.id, body, now: clock.now() }
    await enqueueReceived(tx, plans, told)
  })
}

/** Lets a mail be read again later. */
export async function putOffReading(
  { store }: Pick<SettleDeps, 'store'>,
  { id, tries }: ReadableRow,
  dueAt: number,
): Promise<void> {
  await store.write((tx) =>
    tx
      .updateTable('received')
      .set({ due_at: dueAt, tries: tries + 1 })
      .where('id', '=', id)
      .where('due_at', 'is not', null)
      .execute(),
  )
}

/** False where somebody has deleted the mail, or its account has erased it, while it was read. */
async function isWaiting(tx: Tx, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('received')
    .select('id')
    .where('id', '=', id)
    .where('due_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Hashed before the write, as others wait for the write. */
const contentsOf = ({ attachments }: ReadMail): NewContent[] =>
  attachments.map(({ bytes }) =>
    makeContent([Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)]),
  )

async function keepAttachments(
  tx: Tx,
  store: Pick<Store, 'ids'>,
  accountId: string,
  { attachments }: ReadMail,
  contents: readonly NewContent[],
): Promise<KeptAttachment[]> {
  const ids = await putContents(tx, store, accountId, contents)
  return attachments.map(({ filename, contentType, disposition, contentId, sha256 }, index) => ({
    content: ids[index] ?? 0,
    sizeBytes: contents[index]?.sizeBytes ?? 0,
    filename,
    contentType,
    disposition,
    ...(contentId === '' ? {} : { contentId }),
    sha256,
  }))
}

/** One good signature is enough. */
const bestOf = (results: readonly string[]): string =>
  results.find((result) => result === 'pass') ?? results[0] ?? 'none'

const insertTexts = preparedInsert('received_texts')
