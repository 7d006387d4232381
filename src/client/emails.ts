import { type Methods, pick } from './call.js'
import type { Clock } from './clock.js'
import { TimeoutError } from './errors.js'
import type { CallOptions } from './request.js'
import { type SendManyOptions, type Sent, sendMany } from './send-many.js'
import type { BatchQueued, Email, EmailQueued, EmailScheduled, Send } from './types.js'

/** `Omit`, but for each member of a union by itself: `html` or `template` stays a choice. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** Only marketing mail may have a topic. */
type OnTopic =
  | { type: 'marketing'; topicId?: string | null | undefined }
  | { type?: 'transactional' | null | undefined; topicId?: null | undefined }

/** An email to send: `html` or `template`, never both. */
export type SendEmail = Without<Send, 'type' | 'topicId'> & OnTopic

export const emailMethods = ({ call, byId, withBody, pages }: Methods, clock: Clock) => {
  const batch = (emails: readonly SendEmail[], options?: CallOptions): Promise<BatchQueued> =>
    call('POST /v1/emails/batch', { body: { emails: emails as readonly Send[] } }, options)
  const get = (id: string, options?: CallOptions): Promise<Email> =>
    pick(call('GET /v1/emails/{id}', { params: [id] }, options), 'email')
  return {
    /** Resolves when the mail is on the server's disk. */
    send: (email: SendEmail, options?: CallOptions): Promise<EmailQueued | EmailScheduled> =>
      call('POST /v1/emails/send', { body: email as Send }, options),
    /** Up to 100 mails, all or none. */
    batch,
    /**
     * Any number of mails, by batches; yields `{ index, id }` or `{ index, error }` for each, in their
     * order. Throws a QuotaError with `stoppedAt` when a cap is reached.
     */
    async *sendMany(
      emails: Iterable<SendEmail> | AsyncIterable<SendEmail>,
      options?: SendManyOptions,
    ): AsyncGenerator<{ index: number; id: string } | Extract<Sent<string>, { error: unknown }>> {
      const send = async (items: SendEmail[], keyed: CallOptions) => (await batch(items, keyed)).ids
      const sent = sendMany({ source: emails, send, weight: recipientsOf }, options)
      for await (const one of sent) {
        yield 'error' in one ? one : { index: one.index, id: one.value }
      }
    },
    ussd: withBody('POST /v1/emails/ussd'),
    get,
    /** Mails that fit the filters, newest first. */
    list: pages('GET /v1/emails', 'emails'),
    /**
     * Waits until the mail is delivered, bounced, failed, cancelled or suppressed, or has the status
     * `until`.
     */
    wait: (id: string, options: WaitOptions = {}): Promise<Email> =>
      waitForEmail(clock, (own) => get(id, own), options),
    /** Takes back a mail that is still scheduled. */
    cancel: byId('DELETE /v1/emails/{id}/cancel'),
  }
}

/** Every recipient counts against the caps of a plan. */
function recipientsOf(email: SendEmail): number {
  const given = email as { to: unknown; cc?: unknown; bcc?: unknown }
  return [given.to, given.cc, given.bcc].flat().filter((one) => typeof one === 'string').length
}

export interface WaitOptions extends CallOptions {
  /** Resolve at this status too, before the mail has come to its end. */
  until?: string | undefined
  /** Milliseconds in all; default a minute. */
  timeout?: number | undefined
}

const final = ['delivered', 'bounced', 'failed', 'cancelled', 'suppressed']
const firstPauseMs = 200
const longestPauseMs = 5_000

/**
 * Asks repeatedly, with growing pauses, until the mail has the status `until` or a final one: look at
 * its status. Throws a TimeoutError when time is up, whose `body` is the mail as last seen.
 */
async function waitForEmail(
  clock: Clock,
  get: (options: CallOptions) => Promise<Email>,
  { until, timeout = 60_000, ...options }: WaitOptions,
): Promise<Email> {
  const end = clock.now() + timeout
  for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 1.5)) {
    const email = await get(options)
    if (email.status === until || final.includes(email.status)) return email
    const left = end - clock.now()
    if (left <= 0) {
      const message = `Still ${email.status} after ${timeout} ms`
      throw new TimeoutError(message, { code: 'timeout', body: email, retryable: true })
    }
    await clock.sleep(Math.min(pause, left), options.signal)
  }
}
