import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The value of `Svc-Signature`: `t=<unix_seconds>,v1=<hex>`, with a `v1` for each valid secret, the newest first. The
 * signed bytes of `body` are those that are sent.
 */
export function signWebhook(secrets: readonly string[], atSeconds: number, body: string): string {
  const digests = secrets.map((secret) => `v1=${digestOf(secret, `${atSeconds}.`, body)}`)
  return [`t=${atSeconds}`, ...digests].join(',')
}

/** How strictly a signature's time is judged. */
export interface SignatureOptions {
  /** How far `t` may be from now, either way; default 300. */
  toleranceSeconds?: number
  /** Milliseconds since the epoch; default: the system's time. */
  now?: number
}

/** What `verifyWebhook` does, at a given time. */
export function isSignedAt(
  rawBody: string | Uint8Array,
  header: string | undefined,
  secret: string,
  { now, toleranceSeconds = 300 }: SignatureOptions & { now: number },
): boolean {
  // A framework may give anything for headers that are missing or repeated.
  if (typeof header !== 'string') return false
  const fields = header.split(',').map((field) => field.trim())
  const times = fields.filter((field) => field.startsWith('t='))
  const at = /^t=(\d{1,12})$/.exec(times[0] ?? '')?.[1]
  if (at === undefined || times.length > 1) return false
  if (Math.abs(now / 1_000 - Number(at)) > toleranceSeconds) return false
  const expected = Buffer.from(digestOf(secret, `${at}.`, rawBody), 'hex')
  // All are compared, so that the time does not show which of them fits.
  return fields
    .filter((field) => /^v1=[0-9a-f]{64}$/i.test(field))
    .map((field) => timingSafeEqual(Buffer.from(field.slice(3), 'hex'), expected))
    .includes(true)
}

/** HMAC-SHA-256 of the two parts together, in hex; the body is not copied. */
const digestOf = (secret: string, prefix: string, body: string | Uint8Array) =>
  createHmac('sha256', secret).update(prefix).update(body).digest('hex')
