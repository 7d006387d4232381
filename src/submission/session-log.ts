import type { SMTPServerSession } from 'smtp-server'
import { type Clock, isRecent } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { preparedInsert, type Store, type SubmissionSessionRow } from '../store/index.js'
import type { SessionCourse } from './session.js'

/** Writes down sessions, some at a time; nobody waits for it. */
export interface SessionLog {
  add(session: SMTPServerSession, course: SessionCourse): void
  /** Writes what is left. */
  close(): Promise<void>
}

// Sessions are gathered for this long, so that many of them cost one write.
const everyMs = 500
// The time between two looks for surplus sessions.
const trimEveryMs = 60_000
// The most sessions that wait while the disk is slow: those of a flood are not worth more memory.
const maxWaiting = 2_000
// Rows in a transaction: mail that is being accepted waits for no more than these.
const batch = 200
// The share that is kept for sessions without a log-in: most of them are scanners, which never end.
const anonymousShare = 0.1

const insertSession = preparedInsert('submission_sessions')

/** `keep`: how many there are at most; the oldest go first. */
export function openSessionLog(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  keep: number,
): SessionLog {
  const waiting: SubmissionSessionRow[] = []
  let trimmedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> = Promise.resolve()
  let cancel: (() => void) | undefined

  const write = async () => {
    const rows = waiting.splice(0, batch)
    if (rows.length > 0) {
      await store.write(async (tx) => {
        for (const row of rows) await insertSession(tx, row)
      })
    }
    if (waiting.length > 0) return await write()
    if (isRecent(trimmedAt, clock.now(), trimEveryMs)) return
    trimmedAt = clock.now()
    await trim(store, Math.ceil(keep * anonymousShare), true)
    await trim(store, keep, false)
  }
  const plan = () => {
    cancel ??= clock.after(everyMs, () => {
      cancel = undefined
      running = running
        .then(write)
        .catch((error: unknown) => log.error({ error }, 'Sessions could not be written down'))
    })
  }

  return {
    add(session, course) {
      if (waiting.length >= maxWaiting) return
      waiting.push(rowOf(store.ids.serial(), session, course, clock.now()))
      plan()
    },
    async close() {
      cancel?.()
      await running
      await write().catch((error: unknown) =>
        log.error({ error }, 'Sessions could not be written down'),
      )
    },
  }
}

/**
 * A session as it is kept. The transcript is kept only where something was refused: nobody asks for a successful one.
 */
function rowOf(
  id: number,
  session: SMTPServerSession,
  course: SessionCourse,
  now: number,
): SubmissionSessionRow {
  const { client, lastRefusal } = course
  const wasRefused = lastRefusal !== undefined
  return {
    id,
    account_id: client?.accountId ?? null,
    key_last4: client?.last4 ?? null,
    user: course.user ?? null,
    listener: course.listener,
    remote_address: session.remoteAddress,
    helo: session.hostNameAppearsAs || '',
    tls: course.tls ?? null,
    began_at: course.beganAt,
    ended_at: now,
    accepted: course.accepted,
    refused: course.refused,
    verdict: lastRefusal ?? (course.accepted > 0 ? acceptedAs(course) : 'nothing was handed in'),
    email_ids: JSON.stringify(course.emailIds),
    transcript: wasRefused ? course.transcript.text() : null,
  }
}

/** `accepted`, or `accepted, with another date, message-id`. */
const acceptedAs = ({ replaced }: SessionCourse) =>
  ['accepted', ...(replaced.size > 0 ? [`with another ${[...replaced].join(', ')}`] : [])].join(
    ', ',
  )

/** Deletes all but the newest, in small steps. */
async function trim(store: Store, keep: number, anonymous: boolean): Promise<void> {
  const oldest = await store.read
    .selectFrom('submission_sessions')
    .select('id')
    .$if(anonymous, (query) => query.where('account_id', 'is', null))
    .orderBy('id', 'desc')
    .offset(keep)
    .limit(1)
    .executeTakeFirst()
  if (oldest === undefined) return
  for (let deleted = batch; deleted === batch; ) {
    const { numDeletedRows } = await store.write((tx) =>
      tx
        .deleteFrom('submission_sessions')
        .where('id', 'in', (query) =>
          query
            .selectFrom('submission_sessions')
            .select('id')
            .$if(anonymous, (some) => some.where('account_id', 'is', null))
            .where('id', '<=', oldest.id)
            .orderBy('id')
            .limit(batch),
        )
        .executeTakeFirstOrThrow(),
    )
    deleted = Number(numDeletedRows)
  }
}
