import { sql } from 'kysely'
import type { NoticeRow, Read, Tx } from '../store/index.js'

/** The kinds of notices that an operator can get, and silence by name in `[operator] silence`. */
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

/** The subject of a notice: one thing of a kind, such as a domain's id. */
export interface About {
  kind: NoticeKind
  key: string
}

/**
 * Something that the operator shall know. A text is one line; an array has several lines, of which the
 * first says all. No line becomes two, whatever names of others it contains.
 */
export interface Raised extends About {
  /** `burning` is mailed at once, `daily` with the mail of the day. */
  severity: Severity
  text: string | readonly string[]
  /** The command, record or page that mends it. It has ids, never names, as operators paste it. */
  fix: string | readonly string[]
  /** How far the fault has come; a change tells it again. */
  stage?: string
}

/** The most open notices of one kind; further ones share a single notice, which counts them. */
const mostOpenOfKind = 200
// The key of the notice that stands for any further ones; no id and no name has brackets around it.
export const moreKey = '(more)'

/**
 * Tells the operator something. An open notice that is raised again counts up and gets the newest words;
 * it is mailed again only when its severity rises or its stage changes. The caller settles it when the
 * cause is gone.
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
      // A notice that is no longer urgent is no longer to be told at once.
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
      // A fault that comes and goes is not mailed each time.
      urgent_at: last?.urgent_at ?? null,
      silenced_until: last?.silenced_until ?? null,
    })
    .execute()
}

/** Notes that a notice's cause is gone. Does nothing if there was no such notice. */
export async function settled(tx: Tx, { kind, key, now }: About & { now: number }) {
  await tx
    .updateTable('notices')
    .set({ state: 'settled', settled_at: now, urgent: 0 })
    .where('kind', '=', kind)
    .where('key', '=', oneLine(key, 200))
    .where('state', '=', sql.lit('open'))
    .execute()
}

/**
 * Called after a check of all things of a kind, or of those that `isLookedAt` names: settles the notices that were not
 * raised in it.
 */
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
  // The shared notice stays while there are that many.
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
    // A literal, or SQLite would not see that the partial index has all of them.
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

// How much of a notice is kept, as it may contain others' words.
const maxLines = 60
const maxLine = 1_000

/** The lines of a notice as they are kept. */
const lines = (text: string | readonly string[]) =>
  (typeof text === 'string' ? [text] : text)
    .slice(0, maxLines)
    .map((line) => oneLine(line, maxLine))
    .join('\n')
    .trimEnd()

/** Without line ends, control characters, and characters that reverse a line or are invisible. */
export function oneLine(text: string, atMost: number): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, ' ').trimEnd()
  return plain.length > atMost ? `${plain.slice(0, atMost - 1)}…` : plain
}
