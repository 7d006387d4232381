import { listEmails } from '../emails/index.js'
import type { Read, Tx } from '../store/index.js'
import {
  type ErasureGround,
  eraseAnswers,
  eraseAudit,
  eraseSessions,
  eraseTestInbox,
  eraseWebhooks,
  type LogPlace,
  type Walk,
} from './erase-logs.js'
import { eraseMail } from './erase-mail.js'
import { eraseReceived } from './erase-received.js'
import { eraseRefusals, eraseTasks } from './erase-tasks.js'

/** Where an erasure goes on. */
export interface ErasurePlace extends LogPlace {
  in: Stage
}

/** What a piece has done. */
export interface ErasedPiece {
  /** Undefined: that was all. */
  next: ErasurePlace | undefined
  mails: number
}

const logs: Readonly<Record<Exclude<Stage, 'mails' | 'others'>, Walk>> = {
  received: eraseReceived,
  inbox: eraseTestInbox,
  sessions: eraseSessions,
  answers: eraseAnswers,
  tasks: eraseTasks,
  refusals: eraseRefusals,
  jobs: eraseWebhooks('webhook_jobs'),
  webhooks: eraseWebhooks('webhook_deliveries'),
  audit: eraseAudit,
}

/** In this order. What is sent to endpoints moves from `jobs` to `webhooks`, so one of the two stages meets it. */
const stages = [
  'mails',
  'received',
  'inbox',
  'sessions',
  'answers',
  'tasks',
  'refusals',
  'jobs',
  'webhooks',
  'audit',
  // Mails that others still wait for, until those have them.
  'others',
] as const
type Stage = (typeof stages)[number]

const mailsAStep = 20

/** The mails of the next piece. They are looked up before the write, as that may take a while. */
export async function mailsOf(
  read: Read,
  { accountId, replaced: { address } }: Pick<ErasureGround, 'accountId' | 'replaced'>,
  place: ErasurePlace,
): Promise<{ ids: string[]; next: string | undefined } | undefined> {
  if (place.in !== 'mails') return undefined
  const before = place.after === undefined ? undefined : String(place.after)
  const options = { limit: mailsAStep, before }
  const { emails, next } = await listEmails(read, accountId, { to: address }, options)
  return { ids: emails.map(({ id }) => id), next }
}

/** Does the piece that begins at a place. */
export async function erasePiece(
  tx: Tx,
  walked: ErasureGround,
  place: ErasurePlace,
  mails: Awaited<ReturnType<typeof mailsOf>>,
): Promise<ErasedPiece> {
  if (mails !== undefined) {
    for (const id of mails.ids) await eraseOrWait(tx, walked, id)
    const next =
      mails.next === undefined ? after('mails') : { in: 'mails' as const, after: mails.next }
    return { next, mails: mails.ids.length }
  }
  if (place.in === 'others') return { next: await eraseOthers(tx, walked, place), mails: 0 }
  if (place.in === 'mails') throw new Error('The mails of a piece are looked for first')
  const next = await logs[place.in](tx, walked, place)
  return { next: next === undefined ? after(place.in) : { in: place.in, ...next }, mails: 0 }
}

const after = (stage: Stage): ErasurePlace => ({
  in: stages[stages.indexOf(stage) + 1] ?? 'others',
})

async function eraseOrWait(
  tx: Tx,
  { taskId, replaced, now }: ErasureGround,
  emailId: string,
): Promise<void> {
  if (await eraseMail(tx, emailId, replaced, now)) return
  await tx
    .insertInto('erasure_mails')
    .values({ task_id: taskId, email_id: emailId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Looks again at the next of the mails that waited for other recipients. */
async function eraseOthers(
  tx: Tx,
  { taskId, replaced, now }: ErasureGround,
  { after: last = '' }: LogPlace,
): Promise<ErasurePlace | undefined> {
  const rows = await tx
    .selectFrom('erasure_mails')
    .select('email_id')
    .where('task_id', '=', taskId)
    .where('email_id', '>', String(last))
    .orderBy('email_id')
    .limit(mailsAStep)
    .execute()
  for (const { email_id: emailId } of rows) {
    if (!(await eraseMail(tx, emailId, replaced, now))) continue
    await tx
      .deleteFrom('erasure_mails')
      .where('task_id', '=', taskId)
      .where('email_id', '=', emailId)
      .execute()
  }
  if (rows.length === mailsAStep) return { in: 'others', after: rows.at(-1)?.email_id }
  return (await isWaiting(tx, taskId)) ? { in: 'others' } : undefined
}

/** Whether an erasure waits for other people's mail. */
async function isWaiting(read: Read, taskId: number): Promise<boolean> {
  const rows = read.selectFrom('erasure_mails').select('email_id').where('task_id', '=', taskId)
  return (await rows.limit(1).executeTakeFirst()) !== undefined
}

// Beyond this number pages say 'more than'.
const mostWaiting = 1_000

/** How many mails an erasure waits for; at most 1,000 are counted. */
export async function countWaiting(read: Read, taskId: number): Promise<number> {
  const rows = read.selectFrom('erasure_mails').select('email_id').where('task_id', '=', taskId)
  return (await rows.limit(mostWaiting).execute()).length
}
