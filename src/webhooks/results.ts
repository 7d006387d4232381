import type { UpdateResult } from 'kysely'
import { dayMs, utcTime } from '../clock/index.js'
import {
  cell,
  idsOf,
  least,
  prepared,
  preparedInsertAll,
  rowsOf,
  type Store,
  type Tx,
  type WebhookCause,
} from '../store/index.js'
import { forgotten } from './endpoint.js'
import type { PostAnswer } from './post.js'
import { answerOf, type Job, loggedOf } from './settle.js'

/** The result of an attempt. */
export interface PostedJob {
  job: Job
  answer: Exclude<PostAnswer, { kind: 'stopped' }>
  /** How many attempts there were, including this one. */
  attempts: number
  now: number
  /** When it is tried again; undefined: it has ended. */
  dueAt: number | undefined
  /** True when a success has failures of its endpoint to forget. */
  failedBefore: boolean
}

// So many events dropped in a row disable an endpoint, but only once it has failed for the time below: a campaign
// makes thirty in a second, and a receiver that restarts must not lose its webhooks.
const maxFailures = 30
const failingMs = dayMs

/**
 * Writes results down; those that wait are written together. Resolves with whether this one has disabled its
 * endpoint.
 */
export const makeResults = ({ gather }: Pick<Store, 'gather'>) => gather(writeResults)

/** Writes gathered results, and says of each whether it has disabled its endpoint. */
async function writeResults(tx: Tx, results: readonly PostedJob[]): Promise<boolean[]> {
  const waiting = results.filter(({ dueAt }) => dueAt !== undefined)
  if (waiting.length > 0) await putOff(tx, { json: JSON.stringify(waiting.map(lineOf)) })
  const ended = await endJobs(
    tx,
    results.filter(({ dueAt }) => dueAt === undefined),
  )
  const disabling = new Set<PostedJob>()
  // In the order in which they came, because the failures in a row count.
  for (const result of ended) {
    const { job, answer, now, failedBefore } = result
    if (answer.kind === 'taken') {
      if (failedBefore) await forgetFailures(tx, { id: job.endpoint_id })
    } else if (await countFailure(tx, job.endpoint_id, answer.error, now)) disabling.add(result)
  }
  return results.map((result) => disabling.has(result))
}

/** The columns of `putOff`, in the order in which it reads them. */
const lineOf = ({ job, answer, attempts, dueAt, now }: PostedJob) => {
  const { status, response, error, cause } = answerOf(answer)
  return [job.id, attempts, dueAt, status, response, error, cause, now]
}

/** These wait for another attempt; the result of this one is kept with them, for people who look. */
const putOff = prepared<{ json: string }, UpdateResult>((db, { json }) =>
  db
    .updateTable('webhook_jobs')
    .from(rowsOf(json))
    .set({
      attempts: cell(1, 'integer'),
      due_at: cell(2, 'integer'),
      status: cell<number | null>(3, 'integer'),
      response: cell<string | null>(4, 'text'),
      error: cell<string | null>(5, 'text'),
      cause: cell<WebhookCause | null>(6, 'text'),
      tried_at: cell(7, 'integer'),
    })
    .where('webhook_jobs.id', '=', cell(0, 'integer'))
    // Another node may also have tried it, while it had the duty.
    .where(({ eb, ref }) => eb(ref('webhook_jobs.attempts'), '<', cell<number>(1, 'integer'))),
)

/** Moves jobs to the log; resolves with those that were still there; others were deleted with their endpoint. */
async function endJobs(tx: Tx, ended: readonly PostedJob[]): Promise<PostedJob[]> {
  if (ended.length === 0) return []
  const ids = JSON.stringify(ended.map(({ job }) => job.id))
  const found = new Set((await deleteJobs(tx, { ids })).map(({ id }) => id))
  const there = ended.filter(({ job }) => found.has(job.id))
  await insertDeliveries(
    tx,
    there.map(({ job, answer, attempts, now }) => loggedOf(job, answer, { attempts, now })),
  )
  return there
}

/** Deletes jobs, and returns those that were there. */
const deleteJobs = prepared<{ ids: string }, { id: number }>((db, { ids }) =>
  db.deleteFrom('webhook_jobs').where('id', 'in', idsOf(ids, 'integer')).returning('id'),
)

const insertDeliveries = preparedInsertAll('webhook_deliveries')

/** After a success the count of failures in a row begins anew. */
const forgetFailures = prepared<{ id: string }, UpdateResult>((db, { id }) =>
  db.updateTable('webhook_endpoints').set(forgotten).where('id', '=', id),
)

/**
 * Counts a dropped event; resolves with whether that disabled the endpoint. `announced: 0` makes `announceDisabled`
 * tell the operator.
 */
async function countFailure(tx: Tx, id: string, error: string, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('webhook_endpoints')
    .set(({ eb, fn, ref, val }) => ({
      failures: eb('failures', '+', 1),
      // The earlier of both: a clock that was ahead makes the day longer, never shorter.
      failing_since: least(fn.coalesce(ref('failing_since'), val(now)), val(now)),
    }))
    .where('id', '=', id)
    .returning(['failures', 'failing_since', 'enabled'])
    .executeTakeFirst()
  const since = row?.failing_since ?? now
  if (row === undefined || row.enabled === 0) return false
  if (row.failures < maxFailures || now - since < failingMs) return false
  await tx
    .updateTable('webhook_endpoints')
    .set({
      enabled: 0,
      disabled_at: now,
      disabled_because: `${row.failures} events in a row failed since ${utcTime(since)}, the last one: ${error}`,
      disabled_by: 'failures',
      events_not_kept: 0,
      announced: 0,
    })
    .where('id', '=', id)
    .execute()
  return true
}
