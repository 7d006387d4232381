import { systemClock } from '../clock/index.js'
import { isSignedAt, type SignatureOptions } from './signature.js'

/**
 * Whether a webhook came from your appliance: `rawBody` as it was received, before any parsing;
 * `header` is that of `Svc-Signature`; `secret` begins with `whsec_`. Answer 400 when it is false.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  header: string | undefined,
  secret: string,
  options: SignatureOptions = {},
): boolean {
  return isSignedAt(rawBody, header, secret, { now: systemClock.now(), ...options })
}
