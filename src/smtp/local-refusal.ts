import type { Capabilities } from './capabilities.js'
import { type Envelope, needsSmtpUtf8 } from './envelope.js'
import type { SendResult } from './result.js'

/**
 * What a server has already declined in its EHLO need not be asked: a reply of our own making,
 * with the status that RFC 3463 has for it. Its text begins with `posthorn:`, so that no rule
 * about a provider's replies takes it for one.
 */
export function localRefusal(
  envelope: Envelope,
  sizeBytes: number,
  eightBit: boolean,
  offers: Capabilities,
): (SendResult & { kind: 'refused' }) | undefined {
  if (needsSmtpUtf8(envelope) && !offers.smtpUtf8) {
    return refusal(553, '5.6.7', 'the server does not offer SMTPUTF8, which the address needs')
  }
  if (offers.size !== undefined && sizeBytes > offers.size) {
    return refusal(
      552,
      '5.3.4',
      `the message has ${sizeBytes} bytes, the server takes ${offers.size}`,
    )
  }
  if (eightBit && !offers.eightBitMime) {
    return refusal(554, '5.6.3', 'the server does not offer 8BITMIME, which the message needs')
  }
  return undefined
}

function refusal(code: number, enhanced: string, why: string): SendResult & { kind: 'refused' } {
  const text = `${enhanced} posthorn: ${why}`
  return {
    kind: 'refused',
    reply: { code, enhanced, text },
    phase: 'mail',
    reusable: true,
    local: true,
  }
}
