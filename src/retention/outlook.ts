import { type Plans, readBilling } from '../billing/index.js'
import { dayMs } from '../clock/index.js'
import { diskRoom, firstUuidAt, type Read, readPages } from '../store/index.js'
import type { Ages } from './old-rows.js'
import { readState } from './state.js'

/** What is stored, and what the next run would delete; nothing is changed. */
export interface Outlook {
  ages: Ages
  /** When the last run was; null if there was none. */
  ranAt: number | null
  accounts: { id: string; name: string; retentionDays: number; mails: number; oldMails: number }[]
  /** Mails that are old enough to lose their body or transcripts. */
  oldBodies: number
  oldTranscripts: number
  /** Mails that wait, and so keep theirs. */
  waiting: { bodies: number; transcripts: number }
  file: { bytes: number; freeBytes: number; shrinks: boolean }
  disk: { totalBytes: number; freeBytes: number }
}

/** Counts only by indexes; some ten million mails take a few seconds. For a command, not for the appliance. */
export async function readOutlook(
  read: Read,
  { plans, ages, dataDir, now }: { plans: Plans; ages: Ages; dataDir: string; now: number },
): Promise<Outlook> {
  const state = await readState(read)
  const rows = await read.selectFrom('accounts').select(['id', 'name']).orderBy('id').execute()
  const accounts: Outlook['accounts'] = []
  for (const { id, name } of rows) {
    const { plan } = await readBilling(read, plans, id)
    const count = async (before: string) =>
      (await mailsOf(read, id, before).executeTakeFirstOrThrow()).mails
    // `~` comes after every character of an id.
    const mails = await count('~')
    const oldMails = await count(firstUuidAt(now - plan.retentionDays * dayMs))
    if (mails > 0) accounts.push({ id, name, retentionDays: plan.retentionDays, mails, oldMails })
  }
  const between = async (after: string, until: number) =>
    Number.isFinite(until)
      ? (await mailsBetween(read, after, firstUuidAt(until)).executeTakeFirstOrThrow()).mails
      : 0
  const waiting = async (what: 'bodies' | 'transcripts') =>
    (
      await read
        .selectFrom('retention_waiting')
        .select(({ fn }) => fn.countAll<number>().as('mails'))
        .where('what', '=', what)
        .executeTakeFirstOrThrow()
    ).mails
  const { total, free, bytesEach, shrinks } = await readPages(read)
  return {
    ages,
    ranAt: state.ran_at === 0 ? null : state.ran_at,
    accounts,
    oldBodies: await between(state.bodies_through, now - ages.bodies),
    oldTranscripts: await between(state.transcripts_through, now - ages.transcripts),
    waiting: { bodies: await waiting('bodies'), transcripts: await waiting('transcripts') },
    file: { bytes: total * bytesEach, freeBytes: free * bytesEach, shrinks },
    disk: await diskRoom(dataDir),
  }
}

/** By the index of an account's mails, which has the ids. */
const mailsOf = (read: Read, accountId: string, before: string) =>
  read
    .selectFrom('emails')
    .select(({ fn }) => fn.countAll<number>().as('mails'))
    .where('account_id', '=', accountId)
    .where('id', '<', before)

/** By the primary key. */
const mailsBetween = (read: Read, after: string, before: string) =>
  read
    .selectFrom('emails')
    .select(({ fn }) => fn.countAll<number>().as('mails'))
    .where('id', '>', after)
    .where('id', '<', before)
