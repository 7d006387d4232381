import { isAscii } from 'node:buffer'
import type { Capabilities } from './capabilities.js'
import { type Envelope, needsSmtpUtf8 } from './envelope.js'
import { headerOf, type MessageToSend } from './message.js'
import type { SendResult } from './result.js'

/** What this message needs and the server declined in its EHLO. */
export type Declined = 'SMTPUTF8' | 'SIZE' | '8BITMIME'

/** Why the server need not be asked for this message; undefined where it may take it. */
export function declined(
  envelope: Envelope,
  sizeBytes: number,
  eightBit: boolean,
  offers: Capabilities,
): Declined | undefined {
  if (needsSmtpUtf8(envelope) && !offers.smtpUtf8) return 'SMTPUTF8'
  if (offers.size !== undefined && sizeBytes > offers.size) return 'SIZE'
  return eightBit && !offers.eightBitMime ? '8BITMIME' : undefined
}

/**
 * A server need not be asked for what it declined in its EHLO. The reply is our own, with the status of RFC 3463 for
 * it. Its text begins with `posthorn:`, so that no rule about a provider's replies matches it.
 */
export async function localRefusal(
  what: Declined,
  {
    envelope,
    message,
    sizeBytes,
  }: { envelope: Envelope; message: MessageToSend; sizeBytes: number },
  offers: Capabilities,
): Promise<SendResult & { kind: 'refused' }> {
  switch (what) {
    case 'SIZE':
      return refusal(
        552,
        '5.3.4',
        `the message has ${sizeBytes} bytes, the server takes ${offers.size}`,
      )
    case 'SMTPUTF8': {
      const needs = addressBeyondAscii(envelope) ?? (await fieldsBeyondAscii(message)) ?? 'message'
      return refusal(553, '5.6.7', `the server does not offer SMTPUTF8, which the ${needs} needs`)
    }
    case '8BITMIME': {
      const needs = (await fieldsBeyondAscii(message)) ?? 'body of the message'
      return refusal(554, '5.6.3', `the server does not offer 8BITMIME, which the ${needs} needs`)
    }
  }
}

/** The address that is not ASCII, in words. */
function addressBeyondAscii({ from, to }: Envelope): string | undefined {
  if (!isAscii(Buffer.from(to))) return 'address of the recipient'
  return isAscii(Buffer.from(from)) ? undefined : 'return path'
}

// How many fields the words name.
const maxFields = 3

/** The fields of the header that are not ASCII, in words; undefined where all are. */
async function fieldsBeyondAscii(message: MessageToSend): Promise<string | undefined> {
  const header = await headerOf(message)
  if (isAscii(header)) return undefined
  const names = header
    .toString('latin1')
    .split(/\r\n(?![ \t])/)
    .filter((field) => !isAscii(Buffer.from(field)))
    .map((field) => /^[!-9;-~]{1,40}(?=:)/.exec(field)?.[0])
    .filter((name) => name !== undefined)
  const named = [...new Set(names)].slice(0, maxFields).join(', ')
  return named === '' ? 'header' : `header field ${named}`
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
