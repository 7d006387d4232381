import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Store, WebhookEndpointRow } from '../store/index.js'
import { secretsOf } from './endpoint.js'
import { type Line, type LineDeps, openLine } from './post.js'
import { deferJob, endJob, type Job, nextDue } from './settle.js'
import { signWebhook } from './signature.js'

export interface DeliverDeps extends LineDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  log: Log
  meter: Meter
}

/** An endpoint as it stands, and the way to it. */
export interface Delivering {
  /** False: it is disabled or deleted, so nothing goes there. */
  readonly open: boolean
  /** Reads the endpoint again. Until then it is not open. */
  refresh(): Promise<void>
  /** One attempt. Resolves with the job as it waits for the next one; undefined: it has ended. */
  deliver(job: Job): Promise<Job | undefined>
  close(): void
}

// After a result that could not be written: the job is still there, so it goes out again.
const unwrittenPauseMs = 5_000

export function openEndpointLine(deps: DeliverDeps, id: string): Delivering {
  const { store, clock, key, log, meter } = deps
  let row: WebhookEndpointRow | undefined
  let line: { url: string; to: Line } | undefined
  // Whether a success has failures to forget; told by what ended here and by the endpoint's row.
  let failedBefore = false

  const lineTo = (url: string): Line => {
    if (line?.url === url) return line.to
    line?.to.close()
    line = { url, to: openLine(deps, new URL(url)) }
    return line.to
  }

  const attempt = async (endpoint: WebhookEndpointRow, job: Job): Promise<Job | undefined> => {
    const sentAt = clock.now()
    // interface.md, 'Signature': `t` is of this attempt, the body of the first.
    const secrets = secretsOf(key, endpoint, sentAt)
    const signature = signWebhook(secrets, Math.floor(sentAt / 1_000), job.body)
    const answer = await lineTo(endpoint.url).post(job.body, signature)
    if (answer.kind === 'stopped') return job
    const isTaken = answer.kind === 'taken'
    const now = clock.now()
    const attempts = job.attempts + 1
    const dueAt = isTaken ? undefined : nextDue(attempts, now)
    const outcome = isTaken ? 'delivered' : dueAt === undefined ? 'failed' : 'deferred'
    meter.count('posthorn_webhook_attempts_total', { outcome })
    if (dueAt !== undefined) {
      await store.write((tx) => deferJob(tx, { id: job.id, attempts, dueAt }))
      return { ...job, attempts, due_at: dueAt }
    }
    const how = { attempts, now, failedBefore }
    const disabled = await store.write((tx) => endJob(tx, job, answer, how))
    failedBefore = !isTaken
    if (disabled) await read()
    return undefined
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
        log.error({ error, endpoint: id }, 'What came of a webhook could not be written')
        return { ...job, due_at: clock.now() + unwrittenPauseMs }
      }
    },
    close: () => line?.to.close(),
  }
}
