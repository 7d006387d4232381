import type { UpdateResult } from 'kysely'
import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import {
  eachApart,
  prepared,
  preparedInsert,
  type Store,
  type Tx,
  type WebhookJobRow,
} from '../store/index.js'
import type { PostAnswer } from './post.js'

/** A job as it waits. */
export type Job = Omit<WebhookJobRow, 'id'> & { id: number }

/** interface.md, 'Delivery and retry': what follows each failure; after one more it is dropped. */
const retryDelaysMs = [5_000, 10_000, 20_000, 40_000] as const
/** Events dropped in a row, after which the endpoint is disabled. */
const maxFailures = 30

type Final = Exclude<PostAnswer, { kind: 'stopped' }>

/** When a job that failed for the `attempts`th time is tried again; undefined: never. */
export const nextDue = (attempts: number, now: number): number | undefined => {
  const delay = retryDelaysMs[attempts - 1]
  return delay === undefined ? undefined : now + delay
}

/** It waits for another attempt; what came of this one is written beside it, for who looks. */
export async function deferJob(
  tx: Tx,
  job: Job,
  answer: Final,
  { attempts, dueAt, now }: { attempts: number; dueAt: number; now: number },
): Promise<Job> {
  await putOff(tx, { id: job.id, ...answerOf(answer), attempts, due_at: dueAt, tried_at: now })
  return { ...job, attempts, due_at: dueAt }
}

type PutOff = Pick<Job, 'id' | 'attempts' | 'due_at' | 'status' | 'response' | 'error' | 'tried_at'>

const putOff = prepared<PutOff, UpdateResult>(
  (db, { id, attempts, due_at, status, response, error, tried_at }) =>
    db
      .updateTable('webhook_jobs')
      .set({ attempts, due_at, status, response, error, tried_at })
      .where('id', '=', id),
)

const answerOf = (answer: Final) => ({
  status: 'status' in answer ? answer.status : null,
  response: 'response' in answer ? answer.response : null,
  error: 'error' in answer ? answer.error : null,
})

/** Moves a job to the log. Returns whether its endpoint was disabled by this. */
export async function endJob(
  tx: Tx,
  job: Job,
  answer: Final,
  { attempts, now, failedBefore }: { attempts: number; now: number; failedBefore: boolean },
): Promise<boolean> {
  const error = 'error' in answer ? answer.error : null
  if (!(await moveToLog(tx, job, answer, { attempts, now, error }))) return false
  if (answer.kind !== 'taken') return countFailure(tx, job.endpoint_id, answer.error, now)
  if (failedBefore) await forgetFailures(tx, { id: job.endpoint_id })
  return false
}

/** Puts a job into the log whose result cannot be written as it should be (`fault`), and counts nothing. */
export async function abandonJob(
  tx: Tx,
  job: Job,
  answer: Final,
  { attempts, now, fault }: { attempts: number; now: number; fault: string },
): Promise<void> {
  const error = `What came of it could not be written: ${fault}`
  await moveToLog(tx, job, answer, { attempts, now, error })
}

/** Returns whether the job was there: it may have been deleted with its endpoint meanwhile. */
async function moveToLog(
  tx: Tx,
  job: Job,
  answer: Final,
  { attempts, now, error }: { attempts: number; now: number; error: string | null },
): Promise<boolean> {
  const { due_at: _, tried_at: __, ...kept } = job
  if ((await deleteJob(tx, { id: job.id })).length === 0) return false
  await insertDelivery(tx, {
    ...kept,
    outcome: answer.kind === 'taken' ? 'delivered' : 'failed',
    ...answerOf(answer),
    attempts,
    error,
    ended_at: now,
  })
  return true
}

async function countFailure(tx: Tx, id: string, error: string, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('webhook_endpoints')
    .set(({ eb }) => ({ failures: eb('failures', '+', 1) }))
    .where('id', '=', id)
    .returning(['failures', 'enabled'])
    .executeTakeFirst()
  if (row === undefined || row.enabled === 0 || row.failures < maxFailures) return false
  await tx
    .updateTable('webhook_endpoints')
    .set({
      enabled: 0,
      disabled_at: now,
      disabled_because: `${maxFailures} events in a row failed, the last one: ${error}`,
      announced: 0,
    })
    .where('id', '=', id)
    .execute()
  return true
}

/** Puts a part of what waits for an endpoint into the log, for a replay. Returns how much. */
export async function setAside(
  tx: Tx,
  endpointId: string,
  { now, why }: { now: number; why: string },
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
  for (const { due_at: _, tried_at: __, ...job } of jobs) {
    await insertDelivery(tx, {
      ...job,
      outcome: 'dropped',
      status: null,
      response: null,
      error: why,
      ended_at: now,
    })
  }
  return jobs.length
}

const setAsideAtOnce = 200

/**
 * At the start on a backup's copy, before the courier: puts all that waits into the log, from which
 * `replay` sends it, for it may have been sent since. Resolves with how much. It may be run again.
 */
export async function setAsideRestored(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  why: string,
): Promise<number> {
  let aside = 0
  const endpoints = await store.read.selectFrom('webhook_endpoints').select('id').execute()
  const setAllAside = async ({ id }: { id: string }) => {
    for (let moved = 1; moved > 0; aside += moved) {
      moved = await store.write((tx) => setAside(tx, id, { now: clock.now(), why }))
    }
  }
  await eachApart(endpoints, setAllAside, ({ id }, error) =>
    log.error({ error, endpoint: id }, 'What waits for a webhook cannot be set aside: it goes out'),
  )
  return aside
}

const deleteJob = prepared<{ id: number }, { id: number }>((db, { id }) =>
  db.deleteFrom('webhook_jobs').where('id', '=', id).returning('id'),
)

const forgetFailures = prepared<{ id: string }, UpdateResult>((db, { id }) =>
  db.updateTable('webhook_endpoints').set({ failures: 0 }).where('id', '=', id),
)

const insertDelivery = preparedInsert('webhook_deliveries')
