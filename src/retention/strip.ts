import { sql, type UpdateResult } from 'kysely'
import { forgetDeferred } from '../deliveries/index.js'
import {
  firstUuidAt,
  idsOf,
  mailNumber,
  prepared,
  type Read,
  type RetentionWaitingRow,
  type Tx,
} from '../store/index.js'
import { releaseContentsOf } from './mails.js'
import { inSlices, type RetentionDeps } from './slices.js'
import { countedBelow, readState, setState } from './state.js'

/** What is removed from mails before the mails themselves. */
export type Stripped = RetentionWaitingRow['what']

// How many mails one set of statements treats.
const mailsAPiece = 20
const mailsARead = 500

/**
 * Removes the bodies, or the transcripts, from finished mails that were accepted before `until`. It walks
 * over the mails once and remembers its position; mails that still wait then are checked in every run.
 * Resolves with how many mails had some.
 */
export async function strip(
  deps: RetentionDeps,
  what: Stripped,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<number> {
  const { read, write } = deps.store
  const place = what === 'bodies' ? 'bodies_through' : 'transcripts_through'
  const before = firstUuidAt(until)
  let gone = await stripWaiting(deps, what, signal)
  // If the clock was set back, mails before the position may not be old yet.
  const through = (await readState(read))[place]
  let after = through
  if (after > before) after = before
  while (!signal.aborted) {
    const below = await countedBelow(read)
    const rows = await mailsAfter[what](read, { after, before, below, limit: mailsARead })
    const last = rows.at(-1)
    if (last === undefined) break
    gone += await stripMails(deps, what, rows, signal)
    if (signal.aborted) break
    after = last.id
    const waiting = rows.filter((row) => row.has && row.isLive).map(({ id }) => id)
    await write(async (tx) => {
      await setState(tx, { [place]: last.id })
      if (waiting.length > 0) await remember(tx, what, waiting)
    })
    if (rows.length < mailsARead) break
  }
  return gone
}

/** Checks again the mails that still waited at their turn. */
async function stripWaiting(
  deps: RetentionDeps,
  what: Stripped,
  signal: AbortSignal,
): Promise<number> {
  const { read, write } = deps.store
  let gone = 0
  for (let after = ''; !signal.aborted; ) {
    const waiting = await waitingAfter(read, { what, after, limit: mailsARead })
    const last = waiting.at(-1)
    if (last === undefined) break
    const ids = JSON.stringify(waiting.map(({ id }) => id))
    const rows = await mailsAmong[what](read, { ids })
    gone += await stripMails(deps, what, rows, signal)
    if (signal.aborted) break
    after = last.id
    const still = new Set(rows.filter((row) => row.isLive).map(({ id }) => id))
    const through = waiting.filter(({ id }) => !still.has(id)).map(({ id }) => id)
    if (through.length > 0) {
      await write((tx) => forgetWaiting(tx, { what, ids: JSON.stringify(through) }))
    }
  }
  return gone
}

/** Strips the finished mails that have something; resolves with their number. */
export async function stripMails(
  deps: RetentionDeps,
  what: Stripped,
  rows: readonly StrippedMail[],
  signal: AbortSignal,
): Promise<number> {
  const ready = rows.filter((row) => row.has && !row.isLive)
  const pieces = []
  for (let from = 0; from < ready.length; from += mailsAPiece) {
    const mails = ready.slice(from, from + mailsAPiece)
    const bytes = mails.reduce((sum, mail) => sum + mail.bytes, 0)
    pieces.push({ item: mails, bytes })
  }
  await inSlices(deps, pieces, takeFrom[what], signal, 'byRow')
  return ready.length
}

/** The fields of a mail that decide what may be removed. */
export interface StrippedMail {
  id: string
  bodyId: number | null
  /** There is something to remove. */
  has: 0 | 1
  /** The mail waits, or is being delivered. */
  isLive: 0 | 1
  bytes: number
}

// The queue itself is checked too, as mail in it may still be delivered.
const isLive = sql<0 | 1>`(emails.waiting > 0
  or exists (select 1 from queue where queue.email_id = emails.id))`

/** Mails with the sizes of their bodies. */
export const withBody = (db: Read) =>
  db
    .selectFrom('emails')
    .leftJoin('bodies', 'bodies.id', 'emails.body_id')
    .select(['emails.id', 'emails.body_id as bodyId', isLive.as('isLive')])
    .select(
      sql<0 | 1>`emails.body_id is not null
        or exists (select 1 from raw_messages where raw_messages.email_id = emails.id)`.as('has'),
    )
    .select(
      sql<number>`coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)`.as('bytes'),
    )

/** Mails with whether any of their deliveries has a transcript. */
const withTranscripts = (db: Read) =>
  db
    .selectFrom('emails')
    .select(['emails.id', 'emails.body_id as bodyId', isLive.as('isLive')])
    .select(
      sql<0 | 1>`emails.waiting > 0 or exists (select 1 from deliveries
        where deliveries.email_id = emails.id and transcript is not null)`.as('has'),
    )
    .select(sql<number>`0`.as('bytes'))

/** One page of the walk. */
interface After {
  after: string
  before: string
  below: number
  limit: number
}

/** In the order of ids, which is that of time, and only counted mails. */
const inOrder = (query: ReturnType<typeof withBody>, { after, before, below, limit }: After) =>
  query
    .where('emails.id', '>', after)
    .where('emails.id', '<', before)
    .where(mailNumber, '<', below)
    .orderBy('emails.id')
    .limit(limit)

/** Both walks have columns of the same names. */
type Query = ReturnType<typeof withBody>

/** Mails in the order of their ids, by the primary key; all else by keys. */
export const mailsAfter = {
  bodies: prepared<After, StrippedMail>((db, values) => inOrder(withBody(db), values)),
  transcripts: prepared<After, StrippedMail>((db, values) =>
    inOrder(withTranscripts(db) as unknown as Query, values),
  ),
} as const

/** Some mails, by their ids. */
const mailsAmong = {
  bodies: prepared<{ ids: string }, StrippedMail>((db, { ids }) =>
    withBody(db).where('emails.id', 'in', idsOf(ids, 'text')),
  ),
  transcripts: prepared<{ ids: string }, StrippedMail>((db, { ids }) =>
    withTranscripts(db).where('emails.id', 'in', idsOf(ids, 'text')),
  ),
} as const

/** How each of the two is removed from some mails, in a write. */
const takeFrom = {
  async bodies(tx: Tx, mails: readonly StrippedMail[]): Promise<void> {
    const ids = JSON.stringify(mails.map(({ id }) => id))
    // Read again inside the write: equal bodies may have been merged meanwhile.
    const now = (await mailsAmong.bodies(tx, { ids })).filter((mail) => mail.has && !mail.isLive)
    await forgetBodies(tx, { ids: JSON.stringify(now.map(({ id }) => id)) })
    await releaseContentsOf(tx, now)
  },
  async transcripts(tx: Tx, mails: readonly StrippedMail[]): Promise<void> {
    const ids = JSON.stringify(mails.map(({ id }) => id))
    const of = await forgetTranscripts(tx, { ids })
    await forgetDeferred(tx, { ids: JSON.stringify(of.map(({ id }) => id)) })
  },
} as const

/** The mail stays, without its content. */
const forgetBodies = prepared<{ ids: string }, UpdateResult>((db, { ids }) =>
  db
    .updateTable('emails')
    .set({ body_id: null })
    .where('id', 'in', idsOf(ids, 'text'))
    .where('body_id', 'is not', null),
)

/** The delivery stays, without its transcript. */
const forgetTranscripts = prepared<{ ids: string }, { id: number }>((db, { ids }) =>
  db
    .updateTable('deliveries')
    .set({ transcript: null })
    .where('email_id', 'in', idsOf(ids, 'text'))
    .where('transcript', 'is not', null)
    .returning('id'),
)

/** Notes mails that still wait, to be checked in later runs. */
const remember = async (tx: Tx, what: Stripped, ids: readonly string[]) => {
  for (const email_id of ids) {
    await tx
      .insertInto('retention_waiting')
      .values({ what, email_id })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

/** A page of the noted mails. */
const waitingAfter = prepared<{ what: Stripped; after: string; limit: number }, { id: string }>(
  (db, { what, after, limit }) =>
    db
      .selectFrom('retention_waiting')
      .select('email_id as id')
      .where('what', '=', what)
      .where('email_id', '>', after)
      .orderBy('email_id')
      .limit(limit),
)

/** Deletes the notes on mails that are finished or gone. */
const forgetWaiting = prepared<{ what: Stripped; ids: string }, unknown>((db, { what, ids }) =>
  db
    .deleteFrom('retention_waiting')
    .where('what', '=', what)
    .where('email_id', 'in', idsOf(ids, 'text')),
)
