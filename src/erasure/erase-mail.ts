import { cancelWaiting } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import { addressKey } from '../mime/index.js'
import { idsIn, type Tx } from '../store/index.js'

/** An address, and what stands in its place. */
export interface Replaced {
  /** In lower case. */
  address: string
  name: string
}

/**
 * The text without the address, in whatever case it is; null of null. A longer address that has it in it is another one's. In
 * JSON a line's end stands before it as `\n`.
 */
export function without<T extends string | null>({ address, name }: Replaced, text: T): T {
  if (text === null) return text
  const pattern = address.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const whole = `(?:(?<=\\\\[nrt])|(?<![\\p{L}\\p{N}_.+-]))${pattern}(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])`
  return text.replace(new RegExp(whole, 'giu'), () => name) as T
}

/**
 * Takes an address out of a mail: its row, its deliveries and its events. What waits for that address alone is
 * cancelled. Throws a 503 while a delivery cannot be ended: it is tried again.
 */
export async function eraseMail(
  tx: Tx,
  emailId: string,
  replaced: Replaced,
  now: number,
): Promise<void> {
  const { address, name } = replaced
  const isTheirs = ({ recipient }: { recipient: string | null }) =>
    recipient !== null && addressKey(recipient) === address
  const waiting = await tx
    .selectFrom('queue')
    .select(['id', 'recipient'])
    .where('email_id', '=', emailId)
    .execute()
  const theirs = waiting.filter(isTheirs)
  if (theirs.length > 0) {
    const ids = theirs.map(({ id }) => id)
    if (waiting.length === theirs.length) await cancelWaiting(tx, ids, now)
    const left = await tx.selectFrom('queue').select('id').where('id', 'in', idsIn(ids, 'integer'))
    if ((await left.execute()).length > 0) {
      throw new ApiError('service_unavailable', 'A mail to them is under way')
    }
  }
  const mail = await tx
    .selectFrom('emails')
    .select(['to_list', 'subject', 'metadata', 'extras'])
    .where('id', '=', emailId)
    .executeTakeFirst()
  if (mail === undefined) return
  await tx
    .updateTable('emails')
    .set({
      to_list: without(replaced, mail.to_list),
      subject: without(replaced, mail.subject),
      metadata: without(replaced, mail.metadata),
      extras: without(replaced, mail.extras),
    })
    .where('id', '=', emailId)
    .execute()
  const deliveries = await tx
    .selectFrom('deliveries')
    .select(['id', 'recipient', 'reply'])
    .where('email_id', '=', emailId)
    .execute()
  for (const { id, reply } of deliveries.filter(isTheirs)) {
    const change = { recipient: name, reply: without(replaced, reply), transcript: null }
    await tx.updateTable('deliveries').set(change).where('id', '=', id).execute()
    await tx.deleteFrom('deferred_transcripts').where('delivery_id', '=', id).execute()
  }
  const events = await tx
    .selectFrom('events')
    .select(['id', 'recipient', 'reply', 'detail'])
    .where('email_id', '=', emailId)
    .execute()
  for (const { id, reply, detail } of events.filter(isTheirs)) {
    const change = { reply: without(replaced, reply), detail: without(replaced, detail) }
    await tx
      .updateTable('events')
      .set({ recipient: name, ...change })
      .where('id', '=', id)
      .execute()
  }
}
