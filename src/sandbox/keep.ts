import type { SMTPServerSession } from 'smtp-server'
import type { Clock } from '../clock/index.js'
import { glimpseHeader } from '../mime/index.js'
import type { Read, Store } from '../store/index.js'

/** Stores a mail and resolves with its id once it is on disk. */
export async function keepMessage(
  deps: { store: Store; clock: Clock },
  raw: Buffer,
  session: SMTPServerSession,
): Promise<number> {
  const { subject, from } = glimpseHeader(raw)
  const { mailFrom, rcptTo } = session.envelope
  const id = deps.store.ids.serial()
  const message = {
    id,
    received_at: deps.clock.now(),
    mail_from: mailFrom === false ? '' : mailFrom.address,
    rcpt_to: JSON.stringify(rcptTo.map(({ address }) => address)),
    subject,
    header_from: from,
    remote_address: session.remoteAddress,
    helo: session.hostNameAppearsAs,
    tls: session.secure ? 1 : 0,
    size_bytes: raw.length,
    verdicts: null,
  }
  await deps.store.write(async (tx) => {
    await tx.insertInto('sandbox_messages').values(message).execute()
    await tx.insertInto('sandbox_sources').values({ id, raw }).execute()
  })
  return id
}

/** Few enough that the turn to write is soon passed on, even when each row is a mail of 25 MiB. */
const batch = 20

/** Deletes the oldest beyond `keep`, unless `signal` says stop. */
export async function trimMessages(store: Store, keep: number, signal: AbortSignal): Promise<void> {
  const newest = await newestBeyond(store.read, keep)
  if (newest !== undefined) await deleteUpTo(store, newest, signal)
}

/** Deletes every message up to and including `newest`, in short transactions; tells how many. */
export async function deleteUpTo(
  store: Store,
  newest: number,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0
  while (signal?.aborted !== true) {
    const { numDeletedRows } = await store.write((tx) =>
      tx
        .deleteFrom('sandbox_messages')
        .where('id', 'in', (query) =>
          query
            .selectFrom('sandbox_messages')
            .select('id')
            .where('id', '<=', newest)
            .orderBy('id')
            .limit(batch),
        )
        .executeTakeFirstOrThrow(),
    )
    deleted += Number(numDeletedRows)
    if (numDeletedRows < batch) break
  }
  return deleted
}

/** The newest message that is not among the newest `keep`. */
async function newestBeyond(read: Read, keep: number): Promise<number | undefined> {
  const row = await read
    .selectFrom('sandbox_messages')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .offset(keep)
    .executeTakeFirst()
  return row?.id
}
