import { sql } from 'kysely'
import type { NoticeRow, Read, Tx } from '../store/index.js'

/** What an operator can be told of, and silence: `[operator] silence` names these. */
export const noticeKinds = {
  'account-paused': 'an account is paused',
  'account-warned': 'an account nears a pause',
  backup: 'a backup or its check failed, or is overdue',
  blocklist: 'an address that mail leaves from is on a blocklist',
  brake:
    'a site puts off, refuses or complains about more than usual, and campaign mail to it is slowed down',
  certificate: 'a certificate ends soon, or is wrong',
  database: 'the database cannot be read or written',
  disk: 'the disk is nearly full',
  doctor: "another finding of 'posthorn doctor'",
  'domain-record': 'a DNS record of a sending domain is gone or wrong',
  failover: 'mail goes by the smart hosts',
  held: 'mail is held until somebody decides',
  job: 'another job of the calendar fails, is overdue, or has found something',
  node: 'a node is gone, and the others have taken over its mail',
  plan: 'an account has a plan that this appliance has not read',
  'parked-reports': 'returned mail could not be read',
  'queue-stuck': 'mail is due and does not leave',
  retention: 'old data cannot be deleted, or goes early',
  surge: 'an account hands in far more mail than usual, and the rest is held',
  thread: 'a thread of Posthorn starts again and again',
  webhook: 'a webhook is switched off',
} as const

/** A kind of notice. */
export type NoticeKind = keyof typeof noticeKinds

/** Whether there is such a kind. */
export const isNoticeKind = (text: string): text is NoticeKind => Object.hasOwn(noticeKinds, text)

/** How soon the operator has to know. */
export type Severity = NoticeRow['severity']

/** What it is about: one thing of a kind, such as a domain's id. */
export interface About {
  kind: NoticeKind
  key: string
}

/**
 * Something the operator is to know. A text is one line; an array is lines, of which the first says all.
 * No line becomes two, whatever name of others stands in it.
 */
export interface Raised extends About {
  /** `burning` is mailed at once, `daily` with the mail of the day. */
  severity: Severity
  text: string | readonly string[]
  /** The command, record or page that mends it. Ids, never names: an operator pastes it. */
  fix: string | readonly string[]
  /** How far it has come; when this changes it is told anew. */
  stage?: string
}

/** The most open notices of one kind; any further ones share a single notice, which counts them. */
const mostOpenOfKind = 200
// The key of the notice that stands for any further ones; no id and no name has brackets around it.
export const moreKey = '(more)'

/**
 * Says something to the operator. Raised again while it is open it counts, and has the newest words; it is
 * mailed again only when its severity rises or its stage changes. To be settled when the cause is gone.
 */
export async function notice(tx: Tx, raised: Raised & { now: number }): Promise<void> {
  const { kind, severity, stage = '', now } = raised
  const key = oneLine(raised.key, 200)
  const words = { text: lines(raised.text), fix: lines(raised.fix) }
  const open = await openOne(tx, { kind, key })
  if (open !== undefined) {
    const isWorse = severity === 'burning' && open.severity === 'daily'
    const isNew = isWorse || open.stage !== stage
    await tx
      .updateTable('notices')
      .set({ ...words, severity, stage, last_at: now, count: open.count + 1 })
      .$if(isNew, (query) => query.set({ staged_at: now, fresh: 1 }))
      // A lesser one that was to be told at once is not any more.
      .$if(isNew || severity === 'daily', (query) =>
        query.set({ urgent: severity === 'burning' ? 1 : 0 }),
      )
      .where('id', '=', open.id)
      .execute()
    return
  }
  if (key !== moreKey && (await isFull(tx, kind))) {
    const text = `There is more of this kind (${kind}) than Posthorn keeps: ${mostOpenOfKind} are listed`
    await notice(tx, { ...raised, key: moreKey, text, fix: 'posthorn notice list', stage: '' })
    return
  }
  const last = await tx
    .selectFrom('notices')
    .select(['urgent_at', 'silenced_until'])
    .where('kind', '=', kind)
    .where('key', '=', key)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  await tx
    .insertInto('notices')
    .values({
      kind,
      key,
      severity,
      stage,
      ...words,
      state: 'open',
      count: 1,
      first_at: now,
      last_at: now,
      staged_at: now,
      settled_at: null,
      fresh: 1,
      told_at: null,
      urgent: severity === 'burning' ? 1 : 0,
      // What comes and goes is not mailed each time that it comes.
      urgent_at: last?.urgent_at ?? null,
      silenced_until: last?.silenced_until ?? null,
    })
    .execute()
}

/** Notes that a notice's cause is gone. Nothing happens where there was no such notice. */
export async function settled(tx: Tx, { kind, key, now }: About & { now: number }) {
  await tx
    .updateTable('notices')
    .set({ state: 'settled', settled_at: now, urgent: 0 })
    .where('kind', '=', kind)
    .where('key', '=', oneLine(key, 200))
    .where('state', '=', sql.lit('open'))
    .execute()
}

/** After a look at all there is of a kind, or of those that `isLookedAt` names: what was not raised in it is settled. */
export async function settleOthers(
  tx: Tx,
  {
    kind,
    still,
    now,
    isLookedAt = () => true,
  }: {
    kind: NoticeKind
    still: readonly string[]
    now: number
    isLookedAt?: (key: string) => boolean
  },
): Promise<void> {
  const keys = new Set(still.map((key) => oneLine(key, 200)))
  // The one for many stays as long as there are so many.
  if (keys.size > mostOpenOfKind) keys.add(moreKey)
  for (const { key } of await openOfKind(tx, kind)) {
    if (!keys.has(key) && isLookedAt(key)) await settled(tx, { kind, key, now })
  }
}

/** The open notices of a kind. */
export const openOfKind = (tx: Read, kind: NoticeKind) =>
  tx
    .selectFrom('notices')
    .select(['id', 'key', 'severity', 'stage', 'last_at'])
    .where('kind', '=', kind)
    // A literal, or SQLite does not see that the index has all of them.
    .where('state', '=', sql.lit('open'))
    .execute()

/** The open notice about this, if there is one. */
const openOne = (tx: Tx, { kind, key }: About) =>
  tx
    .selectFrom('notices')
    .select(['id', 'severity', 'stage', 'count'])
    .where('kind', '=', kind)
    .where('key', '=', key)
    .where('state', '=', sql.lit('open'))
    .executeTakeFirst()

/** Whether a kind has as many open notices as it may have. */
const isFull = async (tx: Tx, kind: NoticeKind) =>
  (await openOfKind(tx, kind)).length >= mostOpenOfKind

// How much of a notice is kept: others' words may stand in it.
const maxLines = 60
const maxLine = 1_000

/** The lines of a notice as they are kept. */
const lines = (text: string | readonly string[]) =>
  (typeof text === 'string' ? [text] : text)
    .slice(0, maxLines)
    .map((line) => oneLine(line, maxLine))
    .join('\n')
    .trimEnd()

/** Without line ends, control characters, and signs that turn a line around or hide in it. */
export function oneLine(text: string, atMost: number): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, ' ').trimEnd()
  return plain.length > atMost ? `${plain.slice(0, atMost - 1)}…` : plain
}
