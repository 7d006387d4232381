import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { internalFault, messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { isPassing, type Store, writeApart } from '../store/index.js'
import { type EndpointRow, secretsOf } from './endpoint.js'
import { type EndpointConnections, type LineDeps, openLine, type PostAnswer } from './post.js'
import type { PostedJob } from './results.js'
import { abandonJob, type Job, nextDue } from './settle.js'
import { signWebhook } from './signature.js'

/** What the way to an endpoint needs. */
export interface WebhookDeps extends LineDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  log: Log
  meter: Meter
  /** Shared by all endpoints of a courier (`makeResults`). */
  writeResult: (result: PostedJob) => Promise<boolean>
}

/** An endpoint in its present state, and the connections to it. */
export interface Delivering {
  /** False: it is disabled or deleted, so nothing goes there. */
  readonly open: boolean
  /** Reads the endpoint again. Until then it is not open. */
  refresh(): Promise<void>
  /** One attempt. Resolves with the job as it waits for its next attempt; undefined: it has ended. */
  deliver(job: Job): Promise<Job | undefined>
  close(): void
}

// The pause after a result that could not be written: the job is still there, so it is sent again.
const unwrittenPauseMs = 5_000

/**
 * Opens the way to an endpoint; it connects with the first webhook. Nothing goes there before
 * `refresh` has read the endpoint.
 */
export function openEndpointLine(deps: WebhookDeps, id: string): Delivering {
  const { store, clock, key, log, meter, writeResult } = deps
  let row: EndpointRow | undefined
  let line: { url: string; to: EndpointConnections } | undefined
  // Whether a success has failures to forget, by the results here and by the endpoint's row.
  let failedBefore = false

  /** The connections to the endpoint's URL; another URL than before gets new ones. */
  const lineTo = (url: string): EndpointConnections => {
    if (line?.url === url) return line.to
    line?.to.close()
    line = { url, to: openLine(deps, new URL(url)) }
    return line.to
  }

  /** Signs a job and sends it. */
  const post = async (endpoint: EndpointRow, job: Job): Promise<PostAnswer> => {
    try {
      const sentAt = clock.now()
      // interface.md, 'Signature': `t` is of this attempt, the body of the first.
      const secrets = secretsOf(key, endpoint, sentAt)
      const signature = signWebhook(secrets, Math.floor(sentAt / 1_000), job.body)
      return await lineTo(endpoint.url).post(job.body, signature)
    } catch (error) {
      // The endpoint's secret or URL is broken: it counts as a failed attempt, so that the job ends and somebody
      // learns of it.
      log.error({ error, endpoint: id }, 'A webhook cannot be sent')
      return { kind: 'failed', error: internalFault, cause: null }
    }
  }

  /** One attempt, and its result written down. An attempt that we stopped ourselves does not count. */
  const attempt = async (endpoint: EndpointRow, job: Job): Promise<Job | undefined> => {
    const answer = await post(endpoint, job)
    if (answer.kind === 'stopped') return job
    const isTaken = answer.kind === 'taken'
    const now = clock.now()
    const attempts = job.attempts + 1
    const dueAt = isTaken ? undefined : nextDue(attempts, now)
    const outcome = isTaken ? 'delivered' : dueAt === undefined ? 'failed' : 'deferred'
    meter.count('posthorn_webhook_attempts_total', { outcome })
    try {
      const disabled = await writeResult({ job, answer, attempts, now, dueAt, failedBefore })
      if (dueAt !== undefined) return { ...job, attempts, due_at: dueAt }
      failedBefore = !isTaken
      if (disabled) await read()
    } catch (error) {
      if (isPassing(error)) throw error
      await abandon(job, answer, { attempts, now, fault: messageOf(error) })
    }
    return undefined
  }

  /** The job must not be sent again and again: it is ended in the log, or at least in memory. */
  const abandon = async (
    job: Job,
    answer: Exclude<PostAnswer, { kind: 'stopped' }>,
    how: { attempts: number; now: number; fault: string },
  ) => {
    const { faults, left, cause } = await writeApart(store.write, [job], (tx) =>
      abandonJob(tx, job, answer, how),
    )
    if (left.length > 0) throw cause
    const told = { endpoint: id, job: job.id, event: job.event, cause: how.fault }
    log.error(
      told,
      faults.length > 0
        ? 'The result of a webhook cannot be written at all; the webhook is left alone until the next start'
        : "The result of a webhook cannot be written; the webhook has ended: 'posthorn webhook deliveries'",
    )
  }

  const read = async () => {
    row = await store.read
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    failedBefore ||= (row?.failures ?? 0) > 0
  }

  return {
    get open() {
      return row?.enabled === 1 && row.deleted_at === null
    },
    refresh: read,
    async deliver(job) {
      try {
        return row === undefined ? job : await attempt(row, job)
      } catch (error) {
        log.error({ error, endpoint: id }, 'The result of a webhook could not be written')
        return { ...job, due_at: clock.now() + unwrittenPauseMs }
      }
    },
    close: () => line?.to.close(),
  }
}
