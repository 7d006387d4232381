import { type Methods, pick } from './call.js'
import type { Clock } from './clock.js'
import type { CallOptions } from './request.js'
import { type SendManyOptions, type Sent, sendMany } from './send-many.js'
import type { BatchQueued, Email, EmailQueued, EmailScheduled, Send } from './types.js'
import { type WaitOptions, waitForEmail } from './wait.js'

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A topic goes with marketing mail alone. */
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
    /** Those that the filters fit, newest first. */
    list: pages('GET /v1/emails', 'emails'),
    /** Until it is delivered, bounced, failed, cancelled or suppressed, or has the status `until`. */
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
