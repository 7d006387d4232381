import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import {
  eachApart,
  greatest,
  prepared,
  preparedInsert,
  type Store,
  type Tx,
  type WebhookCause,
  type WebhookDeliveryRow,
  type WebhookJobRow,
} from '../store/index.js'
import type { PostAnswer } from './post.js'

/** A waiting job. */
export type Job = Omit<WebhookJobRow, 'id'> & { id: number }

/** interface.md, 'Delivery and retry': what follows each failure; after one more it is dropped. */
const retryDelaysMs = [5_000, 10_000, 20_000, 40_000] as const

/** No job waits longer, except where a clock was ahead. */
export const longestWaitMs = Math.max(...retryDelaysMs)

/** An answer that counts: we did not stop the attempt ourselves. */
type Final = Exclude<PostAnswer, { kind: 'stopped' }>

/** When a job that failed for the `attempts`th time is tried again; undefined: never. */
export const nextDue = (attempts: number, now: number): number | undefined => {
  const delay = retryDelaysMs[attempts - 1]
  return delay === undefined ? undefined : now + delay
}

/** The parts of an answer that are kept. */
export const answerOf = (answer: Final) => ({
  status: 'status' in answer ? answer.status : null,
  response: 'response' in answer ? answer.response : null,
  error: 'error' in answer ? answer.error : null,
  cause: answer.kind === 'failed' ? answer.cause : null,
})

/** The row of the log for a job that has ended. */
export function loggedOf(
  { due_at: _, tried_at: __, ...kept }: Job,
  answer: Final,
  { attempts, now }: { attempts: number; now: number },
): WebhookDeliveryRow {
  const outcome = answer.kind === 'taken' ? 'delivered' : 'failed'
  return { outcome, ended_at: now, ...kept, ...answerOf(answer), attempts }
}

/** Puts a job whose result cannot be written (`fault`) into the log, and counts nothing. */
export async function abandonJob(
  tx: Tx,
  job: Job,
  answer: Final,
  { attempts, now, fault }: { attempts: number; now: number; fault: string },
): Promise<void> {
  if ((await deleteJob(tx, { id: job.id })).length === 0) return
  const error = `Its result could not be written: ${fault}`
  await insertDelivery(tx, { ...loggedOf(job, answer, { attempts, now }), error, cause: null })
}

/** Puts a part of what waits for an endpoint into the log, for a replay. Returns how much. */
export async function setAside(
  tx: Tx,
  endpointId: string,
  { now, why, cause }: { now: number; why: string; cause: WebhookCause },
): Promise<number> {
  const jobs = await tx
    .deleteFrom('webhook_jobs')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_jobs')
        .select('id')
        .where('endpoint_id', '=', endpointId)
        .orderBy('id')
        .limit(setAsideAtOnce),
    )
    .returningAll()
    .execute()
  let bytes = 0
  for (const { due_at: _, tried_at: __, ...job } of jobs) {
    bytes += Buffer.byteLength(job.body)
    await insertDelivery(tx, {
      ...job,
      outcome: 'dropped',
      status: null,
      response: null,
      error: why,
      cause,
      ended_at: now,
    })
  }
  await countAside(tx, endpointId, bytes)
  return jobs.length
}

/** The events set aside have grown by so many bytes; negative where some were sent again, or are too old. */
export async function countAside(tx: Tx, endpointId: string, bytes: number): Promise<void> {
  if (bytes === 0) return
  await tx
    .updateTable('webhook_endpoints')
    // Events that were set aside before bytes were counted may leave too.
    .set(({ eb }) => ({
      aside_bytes: greatest(eb.lit(0), eb('aside_bytes', '+', bytes)),
    }))
    .where('id', '=', endpointId)
    .execute()
}

/** How many bytes these rows of the log take off `countAside`. */
export const asideBytes = (rows: readonly Pick<WebhookDeliveryRow, 'outcome' | 'body'>[]): number =>
  rows.reduce(
    (sum, { outcome, body }) => sum + (outcome === 'dropped' ? Buffer.byteLength(body) : 0),
    0,
  )

// Jobs in a transaction: mail that is being accepted waits for no more than these.
const setAsideAtOnce = 200

/**
 * To be called at the start on a restored backup, before the courier: puts all waiting jobs into the log, from which
 * `replay` sends them, because they may have been sent since. Resolves with how many. It may be run again.
 */
export async function setAsideRestored(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  why: string,
): Promise<number> {
  let aside = 0
  const endpoints = await store.read.selectFrom('webhook_endpoints').select('id').execute()
  const setAllAside = async ({ id }: { id: string }) => {
    for (let moved = 1; moved > 0; aside += moved) {
      moved = await store.write((tx) =>
        setAside(tx, id, { now: clock.now(), why, cause: 'restored' }),
      )
    }
  }
  await eachApart(endpoints, setAllAside, ({ id }, error) =>
    log.error(
      { error, endpoint: id },
      'What waited in the backup for a webhook cannot be set aside, and is sent: it may have been sent since',
    ),
  )
  return aside
}

/** Deletes a job, and returns whether it was there. */
const deleteJob = prepared<{ id: number }, { id: number }>((db, { id }) =>
  db.deleteFrom('webhook_jobs').where('id', '=', id).returning('id'),
)

const insertDelivery = preparedInsert('webhook_deliveries')
