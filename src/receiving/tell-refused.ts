import { accountById } from '../accounts/index.js'
import { plansDay } from '../billing/index.js'
import { type Clock, dayMs, isoTime, isRecent } from '../clock/index.js'
import { oneLine } from '../notices/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import { type RefusedArrivals, refusedLately, refusedWords } from './refused.js'

// The rest is told at the next look.
const perRun = 20

/** Mails an account's owners, once in 24 hours, that mail for it is refused; and forgets what is over. */
export async function announceRefused(
  {
    store,
    clock,
    ownerAddresses,
    mail,
  }: {
    store: Store
    clock: Clock
    ownerAddresses(read: Read, accountId: string): Promise<string[]>
    /** Writes a mail of the appliance itself. */
    mail(tx: Tx, mail: { to: string; subject: string; text: string }): Promise<void>
  },
  signal: AbortSignal,
): Promise<void> {
  const { read } = store
  const now = clock.now()
  const rows = await read.selectFrom('refused_arrivals').selectAll().execute()
  if (rows.some(({ last_at }) => last_at < now - 2 * dayMs)) {
    await store.write((tx) =>
      tx
        .deleteFrom('refused_arrivals')
        .where('last_at', '<', now - 2 * dayMs)
        .execute(),
    )
  }
  const told = new Set(
    rows.flatMap(({ account_id, told_at }) =>
      told_at !== null && isRecent(told_at, now, dayMs) ? [account_id] : [],
    ),
  )
  const due = new Set(
    rows.flatMap(({ account_id, last_at }) =>
      last_at >= plansDay(now) && !told.has(account_id) ? [account_id] : [],
    ),
  )
  for (const accountId of [...due].slice(0, perRun)) {
    if (signal.aborted) return
    const account = await accountById(read, accountId)
    await store.write(async (tx) => {
      const refused = await refusedLately(tx, accountId, now)
      await tx
        .updateTable('refused_arrivals')
        .set({ told_at: now })
        .where('account_id', '=', accountId)
        .execute()
      if (refused.length === 0) return
      const subject = `Mail that comes in for "${oneLine(account?.name ?? accountId, 100)}" is refused`
      for (const to of await ownerAddresses(tx, accountId)) {
        await mail(tx, { to, subject, text: textOf(subject, refused) })
      }
    })
  }
}

const textOf = (subject: string, refused: readonly RefusedArrivals[]) =>
  [
    `${subject}:`,
    ...refused.map(
      ({ why, mails, firstAt }) =>
        `- ${mails.toLocaleString('en-GB')} since ${isoTime(firstAt)}, as ${refusedWords[why]}`,
    ),
    '',
    'Servers that were told to try again later usually do so for some days; who sent what was too large has been told.',
    'Plan and usage in the dashboard says how much is left and when it is counted anew. Whoever runs this server gives larger plans.',
    'You are told of this once a day at most.',
  ].join('\n')
