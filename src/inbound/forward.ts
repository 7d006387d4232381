import { type Clock, hourMs, isoTime } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { readMessageContent } from '../mime/index.js'
import { makeQuota } from '../smtpd/index.js'
import { eachApart, type OperatorMailRow, type Store, type Tx } from '../store/index.js'

/** What forwarding needs. */
export interface ForwardDeps {
  store: Store
  clock: Clock
  log: Log
  /** Writes a mail to the operator. */
  post: (tx: Tx, mail: { subject: string; text: string }) => Promise<void>
}

// Mails a run; the next run is soon.
const perRun = 20
// Beyond this number mails are kept, but not forwarded.
const mostAnHour = 60
// Characters of a mail that are sent on; the whole mail is kept here.
const maxText = 20_000

/**
 * Forwards mail to postmaster@ and abuse@: its words in a mail of our own, as mail of other hosts is
 * never relayed. It is posted in the transaction that remembers it, so it leaves once.
 */
export function makeForwarding(deps: ForwardDeps): (signal: AbortSignal) => Promise<void> {
  const { store, clock, log, post } = deps
  const quota = makeQuota(clock, { most: mostAnHour, windowMs: hourMs })
  return async (signal) => {
    const rows = await store.read
      .selectFrom('operator_mails')
      .innerJoin('operator_mail_sources', 'operator_mail_sources.id', 'operator_mails.id')
      .selectAll('operator_mails')
      .select('raw')
      .where('to_forward', '=', 1)
      .orderBy('operator_mails.id')
      .limit(perRun)
      .execute()
    const setForwarded = (tx: Tx, id: number) =>
      tx
        .updateTable('operator_mails')
        .set({ to_forward: 0 })
        .where('id', '=', id)
        .where('to_forward', '=', 1)
        .executeTakeFirstOrThrow()
    const forward = async ({ raw, ...row }: (typeof rows)[number]) => {
      if (signal.aborted) return
      const leaves = quota.take('all')
      if (!leaves) log.warn({ id: row.id }, 'Too much mail to the operator: it is not sent on')
      const mail = leaves ? await noticeOf(row, raw) : undefined
      await store.write(async (tx) => {
        const { numUpdatedRows } = await setForwarded(tx, row.id)
        if (mail !== undefined && numUpdatedRows > 0) await post(tx, mail)
      })
    }
    await eachApart(rows, forward, async ({ id }, error) => {
      log.error({ error, id }, "A mail cannot be sent on; it is kept: 'posthorn postmaster list'")
      await store.write((tx) => setForwarded(tx, id))
    })
  }
}

/**
 * The notice about a mail for the operator. All the sender's words are printable, and none gets
 * into a header.
 */
async function noticeOf(row: OperatorMailRow, raw: Buffer) {
  const { text } = await readMessageContent(raw)
  const words = printable(text ?? '').slice(0, maxText)
  const lines = [
    `To:        ${row.recipient}`,
    `From:      ${row.header_from} (envelope <${row.mail_from}>, at ${row.remote_address})`,
    `Subject:   ${row.subject}`,
    `Received:  ${isoTime(row.received_at)}`,
    '',
    words === '' ? 'It has no text part.' : words,
    '',
    '-- ',
    `All of it, with its header: posthorn postmaster show --raw ${row.id}`,
    '',
  ]
  const subject = `${row.recipient}: ${row.subject}`.slice(0, 200)
  return { subject: printable(subject), text: printable(lines.join('\n')) }
}

/** Without control characters, half surrogate pairs among them. */
const printable = (text: string) => text.replace(/\r\n?/g, '\n').replace(/[^\P{C}\n\t]/gu, '')
