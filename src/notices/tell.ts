import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { type Read, type Store, sinceCommit, type Tx } from '../store/index.js'
import { chooseBurning, chooseDaily, dayIn, leftToday, type TellSettings } from './choose.js'
import {
  type Annex,
  composeOperatorMail,
  type NoticePart,
  type OperatorMessage,
} from './compose.js'
import { fromRow, type NoticeMailRead, type NoticeRowRead, titleOf, worstFirst } from './read.js'

/** What telling the operator needs. */
export interface TellDeps {
  store: Store
  clock: Clock
  log: Log
  settings: TellSettings
  /** The appliance's own name, which the mails carry. */
  host: string
  /** Queues the mail; resolves with its id, or undefined if nobody can sign or get it. */
  post(tx: Tx, mail: OperatorMessage): Promise<string | undefined>
}

/** More mails than can leave in a day. */
const mailsRead = 200
// How many past mails are kept, for pages and commands.
const mailsKept = 400
const pastKept = 1_000
// Notices that one part of a mail names.
const shownOfPart = 40

type ToldSoFar = Awaited<ReturnType<typeof toldSoFar>>

/** What `tellBurning` depends on beside the time, for callers that ask repeatedly. */
const toldSoFar = async (read: Read) => ({
  rows: await rowsOf(read, 'open'),
  mails: await mailsOf(read),
})

/** The same, read once a commit. */
export const watchTold = (store: Pick<Store, 'read' | 'commits'>): (() => Promise<ToldSoFar>) =>
  sinceCommit(store, () => toldSoFar(store.read))

/**
 * Mails urgent notices when it is time. The mail is written in the transaction that notes it as told, so
 * it leaves once, even if a process dies. Returns whether there was one.
 */
export async function tellBurning(
  deps: TellDeps,
  known: () => Promise<ToldSoFar> = () => toldSoFar(deps.store.read),
): Promise<boolean> {
  const { store, clock, log, settings } = deps
  const choose = ({ rows, mails }: ToldSoFar) => chooseBurning(rows, mails, settings, clock.now())
  // Most of the time there is nothing, and then no write has to take its turn.
  if (choose(await known()).length === 0) return false
  const told = await store.write(async (tx) => {
    const now = clock.now()
    const due = choose(await toldSoFar(tx))
    if (due.length === 0) return []
    const left = leftToday(await mailsOf(tx), settings, now) - 1
    const remarks =
      left > 0
        ? []
        : [
            'This was the last mail at once for 24 hours: what becomes urgent next is in the mail of the day.',
          ]
    const parts = [{ heading: '', notices: shown(due), shape: 'full' }] as const
    const mail = composeOperatorMail({ ...deps, zone: settings.zone, parts, remarks })
    await enter(deps, tx, { kind: 'burning', mail, now })
    await tx
      .updateTable('notices')
      .set({ urgent: 0, urgent_at: now, told_at: now })
      .where(
        'id',
        'in',
        due.map(({ id }) => id),
      )
      .execute()
    return due
  })
  for (const row of told) {
    log.error({ kind: row.kind, about: row.key, fix: row.fix }, titleOf(row))
  }
  return told.length > 0
}

/**
 * Writes the mail of the day, if there is something to tell and today's has not left: what is wrong, what
 * is settled, and the waiting report. Returns its subject.
 */
export async function tellDaily(deps: TellDeps, report?: () => Promise<Annex>) {
  const { store, clock, log, settings } = deps
  const isTold = async (read: Read) => {
    const today = dayIn(settings.zone, clock.now())
    return (await mailsOf(read)).some(({ kind, day }) => kind === 'daily' && day === today)
  }
  const asked = async (read: Read) =>
    (await mailsOf(read)).filter(({ kind, state }) => kind === 'report' && state === 'waiting')
  const reportDue = report !== undefined && (await asked(store.read)).length > 0
  const annex = reportDue && !(await isTold(store.read)) ? await report() : undefined
  const subject = await store.write(async (tx) => {
    const now = clock.now()
    if (await isTold(tx)) return undefined
    const rows = [...(await rowsOf(tx, 'open')), ...(await rowsOf(tx, 'settled'))]
    const chosen = chooseDaily(rows, settings, now)
    if (chosen === undefined && annex === undefined) {
      await forget(tx)
      return undefined
    }
    const { burning, fresh, still, settled } = chosen ?? noDaily
    const parts: NoticePart[] = [
      { heading: 'Burning', notices: shown(burning), shape: 'full' },
      { heading: 'New', notices: shown(fresh), shape: 'full' },
      { heading: 'Still so', notices: shown(still), shape: 'short' },
      { heading: 'Settled', notices: shown(settled), shape: 'settled' },
    ]
    const about = burning.length + fresh.length > 0 || annex === undefined ? {} : aboutReport
    const all = [burning, fresh, still, settled].reduce((sum, { length }) => sum + length, 0)
    const said = { parts, annex, remarks: cutOf(parts, all), ...about }
    const mail = composeOperatorMail({ ...deps, zone: settings.zone, ...said })
    await enter(deps, tx, { kind: 'daily', mail, now })
    const open = [...burning, ...fresh, ...still].map(({ id }) => id)
    if (open.length > 0) {
      await tx
        .updateTable('notices')
        .set({ fresh: 0, urgent: 0, told_at: now })
        .where('id', 'in', open)
        .execute()
    }
    for (const { id } of annex === undefined ? [] : await asked(tx)) {
      await tx.updateTable('notice_mails').set({ state: 'sent' }).where('id', '=', id).execute()
    }
    await forget(tx)
    return mail.subject
  })
  if (subject !== undefined) log.info({ subject }, 'The operator is mailed what there is to know')
  return subject
}

// The subject of a mail with only the weekly report.
const aboutReport = { about: 'The week in mail' }
const noDaily = { burning: [], fresh: [], still: [], settled: [] }

/** The next mail of the day shall have the weekly report; asking twice adds it once. */
export async function askForReport({ store, clock, settings }: TellDeps): Promise<void> {
  await store.write(async (tx) => {
    const now = clock.now()
    const waiting = (await mailsOf(tx)).some(
      ({ kind, state }) => kind === 'report' && state === 'waiting',
    )
    if (waiting) return
    const day = dayIn(settings.zone, now)
    await tx
      .insertInto('notice_mails')
      .values({ kind: 'report', at: now, day, state: 'waiting', ...unsent, subject: '' })
      .execute()
  })
}

/** A test mail by one way, and how it ended. */
export interface TestMail {
  subject: string
  /** Its id, if the way was the queue. */
  emailId: string | undefined
  way: string
  ok: boolean
  answer: string
}

/** Notes finished test mails beside the mails of notices. */
export async function noteTests(
  { store, clock, zone }: Pick<TellDeps, 'store' | 'clock'> & { zone: string },
  tests: readonly TestMail[],
): Promise<void> {
  if (tests.length === 0) return
  const at = clock.now()
  const rows = tests.map(({ subject, emailId, way, ok, answer }) => ({
    kind: 'test' as const,
    at,
    day: dayIn(zone, at),
    subject,
    email_id: emailId ?? null,
    state: ok ? ('sent' as const) : ('failed' as const),
    path: way,
    result: answer,
    text: '',
    html: '',
  }))
  await store.write((tx) => tx.insertInto('notice_mails').values(rows).execute())
}

// A mail that was only requested.
const unsent = { email_id: null, path: '', result: '', text: '', html: '' }

/** Puts a mail into the queue, and notes it. */
async function enter(
  { settings, post }: TellDeps,
  tx: Tx,
  { kind, mail, now }: { kind: 'burning' | 'daily'; mail: OperatorMessage; now: number },
): Promise<void> {
  const emailId = (await post(tx, mail)) ?? null
  await tx
    .insertInto('notice_mails')
    .values({
      kind,
      at: now,
      day: dayIn(settings.zone, now),
      ...mail,
      email_id: emailId,
      state: 'waiting',
      path: '',
      result: '',
    })
    .execute()
}

/** Settled notices become past, told or not worth telling; the oldest past ones are deleted. */
async function forget(tx: Tx): Promise<void> {
  await tx.updateTable('notices').set({ state: 'past' }).where('state', '=', 'settled').execute()
  const oldest = await tx
    .selectFrom('notices')
    .select('id')
    .where('state', '=', 'past')
    .orderBy('id', 'desc')
    .offset(pastKept)
    .limit(1)
    .executeTakeFirst()
  if (oldest !== undefined) {
    await tx
      .deleteFrom('notices')
      .where('state', '=', 'past')
      .where('id', '<=', oldest.id)
      .execute()
  }
  const mail = await tx
    .selectFrom('notice_mails')
    .select('id')
    .orderBy('id', 'desc')
    .offset(mailsKept)
    .limit(1)
    .executeTakeFirst()
  if (mail !== undefined) {
    await tx.deleteFrom('notice_mails').where('id', '<=', mail.id).execute()
  }
}

/** Notices for a mail, the worst first. */
function shown(rows: readonly NoticeRowRead[]) {
  return rows.map(fromRow).sort(worstFirst).slice(0, shownOfPart)
}

/** How many notices are not in the mail. */
function cutOf(parts: readonly NoticePart[], all: number): string[] {
  const named = parts.reduce((sum, { notices }) => sum + notices.length, 0)
  return named < all ? [`${all - named} more are not in this mail: posthorn notice list.`] : []
}

/** The notices in this state, the oldest first. */
const rowsOf = (read: Read, state: NoticeRowRead['state']): Promise<NoticeRowRead[]> =>
  read.selectFrom('notices').selectAll().where('state', '=', state).orderBy('id').execute()

/** The latest, the newest first. */
export const mailsOf = (read: Read): Promise<Omit<NoticeMailRead, 'text' | 'html'>[]> =>
  read
    .selectFrom('notice_mails')
    .select(['id', 'at', 'kind', 'day', 'subject', 'email_id', 'state', 'path', 'result'])
    .orderBy('id', 'desc')
    .limit(mailsRead)
    .execute()
