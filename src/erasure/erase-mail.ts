import { cancelWaiting } from '../deliveries/index.js'
import { enterAnew } from '../emails/index.js'
import { addressKey } from '../mime/index.js'
import { readExtras, storedTexts, type Tx, wholeExtras, writeExtras } from '../store/index.js'
import { mailboxesWithout, type Replaced, without } from './replace.js'

/**
 * Takes an address out of a mail: its row, its deliveries, its events, its tags. Deliveries that wait for that address
 * are cancelled. Resolves with whether that was all: while others wait, their copies have to say whom the mail is to,
 * and a delivery that is under way ends first.
 */
export async function eraseMail(
  tx: Tx,
  emailId: string,
  replaced: Replaced,
  now: number,
): Promise<boolean> {
  const waiting = await waitingOf(tx, emailId)
  const theirs = waiting.filter((row) => isTheirs(replaced, row))
  if (theirs.length > 0) {
    await cancelWaiting(
      tx,
      theirs.map(({ id }) => id),
      now,
    )
  }
  await eraseDeliveries(tx, emailId, replaced)
  await eraseEvents(tx, emailId, replaced)
  if ((await waitingOf(tx, emailId)).length > 0) return false
  await eraseRow(tx, emailId, replaced)
  await tx.deleteFrom('email_merges').where('email_id', '=', emailId).execute()
  return true
}

const waitingOf = (tx: Tx, emailId: string) =>
  tx.selectFrom('queue').select(['id', 'recipient']).where('email_id', '=', emailId).execute()

const isTheirs = ({ address }: Replaced, { recipient }: { recipient: string | null }) =>
  recipient !== null && addressKey(recipient) === address

/** An SMTP dialogue may name all recipients of a mail, so the deliveries to the others are searched too. */
async function eraseDeliveries(tx: Tx, emailId: string, replaced: Replaced): Promise<void> {
  const deliveries = await tx
    .selectFrom('deliveries')
    .select(['id', 'recipient', 'reply', 'transcript'])
    .where('email_id', '=', emailId)
    .execute()
  for (const row of deliveries) {
    const isOwn = isTheirs(replaced, row)
    const change = {
      recipient: isOwn ? replaced.name : row.recipient,
      reply: without(replaced, row.reply),
      transcript: isOwn ? null : without(replaced, row.transcript),
    }
    await tx.updateTable('deliveries').set(change).where('id', '=', row.id).execute()
    if (isOwn) {
      await tx.deleteFrom('deferred_transcripts').where('delivery_id', '=', row.id).execute()
    } else await eraseDeferred(tx, row.id, replaced)
  }
  const waiting = await tx
    .selectFrom('queue')
    .select(['id', 'last_reply', 'last_transcript'])
    .where('email_id', '=', emailId)
    .execute()
  for (const { id, last_reply, last_transcript } of waiting) {
    const change = {
      last_reply: without(replaced, last_reply),
      last_transcript: without(replaced, last_transcript),
    }
    await tx.updateTable('queue').set(change).where('id', '=', id).execute()
    await eraseDeferred(tx, id, replaced)
  }
}

async function eraseDeferred(tx: Tx, deliveryId: number, replaced: Replaced): Promise<void> {
  const said = await tx
    .selectFrom('deferred_transcripts')
    .select(['at', 'transcript'])
    .where('delivery_id', '=', deliveryId)
    .execute()
  for (const { at, transcript } of said) {
    await tx
      .updateTable('deferred_transcripts')
      .set({ transcript: without(replaced, transcript) })
      .where('delivery_id', '=', deliveryId)
      .where('at', '=', at)
      .execute()
  }
}

async function eraseEvents(tx: Tx, emailId: string, replaced: Replaced): Promise<void> {
  const events = await tx
    .selectFrom('events')
    .select(['id', 'recipient', 'reply', 'detail'])
    .where('email_id', '=', emailId)
    .execute()
  for (const row of events) {
    const { id, recipient, reply, detail } = row
    const change = {
      recipient: isTheirs(replaced, row) ? replaced.name : recipient,
      reply: without(replaced, reply),
      detail: without(replaced, detail),
    }
    const isSame =
      change.recipient === recipient && change.reply === reply && change.detail === detail
    if (isSame) continue
    await tx.updateTable('events').set(change).where('id', '=', id).execute()
  }
}

const indexed = ['id', 'account_id', 'to_list', 'extras', 'message_id'] as const

async function eraseRow(tx: Tx, emailId: string, replaced: Replaced): Promise<void> {
  const mail = await tx
    .selectFrom('emails')
    .select([...indexed, 'reply_to', 'subject', 'metadata'])
    .where('id', '=', emailId)
    .executeTakeFirst()
  if (mail === undefined) return
  const { to_list, extras, reply_to, subject, metadata } = mail
  const recipients = storedTexts(to_list)
  const change = {
    to_list:
      recipients === undefined
        ? without(replaced, to_list)
        : JSON.stringify(mailboxesWithout(replaced, recipients)),
    extras: await extrasWithout(tx, mail, replaced),
    reply_to: without(replaced, reply_to),
    subject: without(replaced, subject),
    metadata: without(replaced, metadata),
  }
  await tx.updateTable('emails').set(change).where('id', '=', emailId).execute()
  await enterAnew(tx, { ...mail, extras }, { ...mail, ...change })
}

/** A mail's own extras, and its tags where mails are found by tags. */
async function extrasWithout(
  tx: Tx,
  mail: { id: string; account_id: string; extras: string | null },
  replaced: Replaced,
): Promise<string | null> {
  const before = readExtras(mail.extras)
  const after = readExtras(without(replaced, mail.extras))
  if (before === undefined || after === undefined) return without(replaced, mail.extras)
  for (const [at, { name, value }] of wholeExtras(before).tags.entries()) {
    const tag = after.tags?.[at]
    if (tag === undefined || (tag.name === name && tag.value === value)) continue
    await tx
      .deleteFrom('email_tags')
      .where('account_id', '=', mail.account_id)
      .where('name', '=', name)
      .where('value', '=', value)
      .where('email_id', '=', mail.id)
      .execute()
    const row = { account_id: mail.account_id, name: tag.name, value: tag.value, email_id: mail.id }
    await tx
      .insertInto('email_tags')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  const { cc, bcc, replyTo } = wholeExtras(before)
  return writeExtras({
    ...after,
    cc: mailboxesWithout(replaced, cc),
    bcc: mailboxesWithout(replaced, bcc),
    replyTo: mailboxesWithout(replaced, replyTo),
  })
}
