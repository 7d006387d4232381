import { systemClock } from './clock.js'
import { WebhookVerificationError } from './errors.js'
import type { WebhookPayload } from './types.js'

export type WebhookEventName =
  | 'email.sent'
  | 'email.delivered'
  | 'email.bounced'
  | 'email.complained'
  | 'email.failed'
  | 'email.opened'
  | 'email.clicked'
  | 'email.received'

/** One webhook by its event. A newer server may send other events: `event` is then another text. */
export type WebhookEventOf<E extends WebhookEventName> = Omit<WebhookPayload, 'event'> & {
  event: E
} & (E extends 'email.bounced' ? { bounceReason: 'Permanent' | 'Transient' } : unknown)

export type WebhookEvent = { [E in WebhookEventName]: WebhookEventOf<E> }[WebhookEventName]

export interface ReadOptions {
  /** How far the signature's time may be from now, in both directions; default 300. */
  toleranceSeconds?: number | undefined
  /** Milliseconds since the epoch; default the system's time. */
  now?: number | undefined
}

/**
 * The event in a webhook, after its signature was verified. `rawBody` is the body as it was received,
 * before any parsing; `header` is that of `Svc-Signature`; while a secret is being replaced, give
 * both. Throws a WebhookVerificationError: answer 400.
 */
export async function readWebhook(
  rawBody: string | Uint8Array,
  header: string | null | undefined,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = systemClock.now() }: ReadOptions = {},
): Promise<WebhookEvent> {
  const secrets = [secret].flat()
  // Anybody could sign with an empty secret. The sender is not at fault, so this is no
  // WebhookVerificationError.
  if (secrets.length === 0 || !secrets.every((one) => typeof one === 'string' && one.trim())) {
    throw new TypeError('The secret of the webhook is empty; give that of its page')
  }
  if (typeof header !== 'string') {
    throw new WebhookVerificationError('There is no Svc-Signature', 'missing')
  }
  const fields = header.split(',').map((field) => field.trim())
  const times = fields.filter((field) => field.startsWith('t='))
  const at = /^t=(\d{1,12})$/.exec(times[0] ?? '')?.[1]
  const digests = fields.flatMap((field) => /^v1=([0-9a-f]{64})$/i.exec(field)?.[1] ?? [])
  if (at === undefined || times.length > 1 || digests.length === 0) {
    throw new WebhookVerificationError('Svc-Signature is not t=…,v1=…', 'malformed')
  }
  if (Math.abs(now / 1_000 - Number(at)) > toleranceSeconds) {
    throw new WebhookVerificationError('Svc-Signature is of another time', 'old')
  }
  // A Blob turns text into UTF-8 and leaves bytes as they are. The signature is over these very bytes.
  const body = new Blob([rawBody])
  const signed = await new Blob([`${at}.`, body]).arrayBuffer()
  const verified = await Promise.all(
    secrets.flatMap((one) => digests.map((digest) => isSigned(one, signed, digest))),
  )
  if (!verified.includes(true)) {
    throw new WebhookVerificationError('Svc-Signature does not fit the body', 'signature')
  }
  return JSON.parse(await body.text()) as WebhookEvent
}

/** The key of an event: it is the same when the same event comes again. */
export const webhookId = ({ emailId, event, timestamp, to }: WebhookEvent): string =>
  [emailId, event, timestamp, ...to].join(' ')

async function isSigned(secret: string, signed: ArrayBuffer, digest: string) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const raw = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify'])
  const bytes = Uint8Array.from(digest.match(/../g) ?? [], (two) => Number.parseInt(two, 16))
  // In constant time, as WebCrypto promises.
  return crypto.subtle.verify('HMAC', key, bytes, signed)
}
