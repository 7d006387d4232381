import type { SMTPServerSession } from 'smtp-server'
import type { Clock } from '../clock/index.js'
import { glimpseHeader } from '../mime/index.js'
import { idsIn, type Store } from '../store/index.js'
import { type Inbox, isIn } from './inbox.js'

/** The account whose inbox a mail goes into, and the account's mail of which it is a copy. */
export interface Owner {
  accountId: string
  emailId: string
}

/** Stores a mail, in the sandbox's inbox unless it has an owner, and resolves with its id once it is on disk. */
export async function keepMessage(
  deps: { store: Store; clock: Clock },
  raw: Buffer,
  session: SMTPServerSession,
  owner?: Owner,
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
    account_id: owner?.accountId ?? null,
    email_id: owner?.emailId ?? null,
  }
  await deps.store.write(async (tx) => {
    await tx.insertInto('sandbox_messages').values(message).execute()
    await tx.insertInto('sandbox_sources').values({ id, raw }).execute()
  })
  return id
}

/** Few enough that others soon get their turn to write, even when each row is a mail of 25 MiB. */
export const batch = 20

/** Deletes the oldest of an inbox beyond `keep`, unless `signal` says stop. */
export async function trimMessages(
  inbox: InboxStore,
  keep: number,
  signal: AbortSignal,
): Promise<void> {
  const newest = await newestBeyond(inbox, keep)
  if (newest !== undefined) await deleteUpTo(inbox, newest, signal)
}

type InboxStore = Inbox & Pick<Store, 'write'>

/** Deletes every message of an inbox up to and including `newest`, in short transactions; resolves with how many. */
export async function deleteUpTo(
  inbox: InboxStore,
  newest: number,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0
  while (signal?.aborted !== true) {
    const { numDeletedRows } = await inbox.write((tx) =>
      tx
        .deleteFrom('sandbox_messages')
        .where('id', 'in', (query) =>
          query
            .selectFrom('sandbox_messages')
            .select('id')
            .where(isIn(inbox))
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

/** Deletes these messages of an inbox; resolves with how many were there. */
export async function deleteMessages(inbox: InboxStore, ids: readonly number[]): Promise<number> {
  const { numDeletedRows } = await inbox.write((tx) =>
    tx
      .deleteFrom('sandbox_messages')
      .where('id', 'in', idsIn(ids, 'integer'))
      .where(isIn(inbox))
      .executeTakeFirstOrThrow(),
  )
  return Number(numDeletedRows)
}

/** The newest message that is not among the newest `keep`, or comes after as many bytes as an account may have. */
async function newestBeyond(inbox: Inbox, keep: number): Promise<number | undefined> {
  if (inbox.accountId !== undefined) return await newestBeyondBytes(inbox, keep)
  const row = await newestFirst(inbox).limit(1).offset(keep).executeTakeFirst()
  return row?.id
}

/** The limit of an account's inbox: a program that tests large mails must not fill the disk for the others. */
const mostAccountBytes = 64 * 1_024 * 1_024

async function newestBeyondBytes(inbox: Inbox, keep: number): Promise<number | undefined> {
  const rows = await newestFirst(inbox)
    .limit(keep + 1)
    .execute()
  let bytes = 0
  // The newest stays, however large it is.
  const first = rows.findIndex(({ size_bytes }, i) => {
    bytes += size_bytes
    return i > 0 && bytes > mostAccountBytes
  })
  return rows[first < 0 ? keep : first]?.id
}

const newestFirst = (inbox: Inbox) =>
  inbox.read
    .selectFrom('sandbox_messages')
    .select(['id', 'size_bytes'])
    .where(isIn(inbox))
    .orderBy('id', 'desc')
