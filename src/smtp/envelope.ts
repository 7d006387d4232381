import { isAscii } from 'node:buffer'
import type { Capabilities } from './capabilities.js'

/** The sender and receiver of a message: the return path and one recipient. */
export interface Envelope {
  /** Empty for the null return path. Domains are A-labels; local parts may be UTF-8. */
  from: string
  to: string
  /** The message's headers contain UTF-8 (RFC 6531). Implied by a non-ASCII address. */
  smtpUtf8?: boolean
  /** Asked for only when the server offers DSN (RFC 3461). */
  dsn?: DeliveryStatusOptions
}

export interface DeliveryStatusOptions {
  envelopeId?: string
  returns?: 'full' | 'headers'
  notify?: readonly ('never' | 'success' | 'failure' | 'delay')[]
  /** The address that the message was first sent to; a report names it, wherever the message was forwarded. */
  originalRecipient?: string
}

/** An envelope as command lines, with their CRLF. */
export interface EnvelopeCommands {
  mail: string
  rcpt: string
}

/**
 * The MAIL and RCPT commands for a message of `sizeBytes`. Throws if an address could end a command or carry a
 * parameter: such an address is a bug of the caller and must never reach the wire.
 */
export function envelopeCommands(
  envelope: Envelope,
  sizeBytes: number,
  eightBit: boolean,
  offers: Capabilities,
): EnvelopeCommands {
  const from = envelope.from === '' ? '' : checkedAddress(envelope.from)
  let mail = `MAIL FROM:<${from}>`
  let rcpt = `RCPT TO:<${checkedAddress(envelope.to)}>`
  // RFC 1870 §6: the size of the message before dots are stuffed.
  if (offers.sizeOffered) mail += ` SIZE=${sizeBytes}`
  if (eightBit && offers.eightBitMime) mail += ' BODY=8BITMIME'
  if (needsSmtpUtf8(envelope)) mail += ' SMTPUTF8'
  if (offers.dsn && envelope.dsn !== undefined) {
    const { envelopeId, returns, notify, originalRecipient } = envelope.dsn
    if (returns !== undefined) mail += returns === 'full' ? ' RET=FULL' : ' RET=HDRS'
    if (envelopeId !== undefined) mail += ` ENVID=${xtext(envelopeId)}`
    if (notify !== undefined) rcpt += ` NOTIFY=${notify.join(',').toUpperCase()}`
    // RFC 6533 §3 has another form for addresses that are not ASCII, but few servers understand it, so none is sent.
    if (originalRecipient !== undefined && isAscii(Buffer.from(originalRecipient))) {
      rcpt += ` ORCPT=rfc822;${xtext(originalRecipient)}`
    }
  }
  return { mail: `${mail}\r\n`, rcpt: `${rcpt}\r\n` }
}

/** Whether the message can only go to a server that offers SMTPUTF8. */
export function needsSmtpUtf8(envelope: Envelope): boolean {
  if (envelope.smtpUtf8 === true) return true
  return !isAscii(Buffer.from(envelope.from)) || !isAscii(Buffer.from(envelope.to))
}

/** RFC 5321 §4.1.2: a local part is a quoted string, or has no space, quote or bracket in it. */
const address =
  /^(?:"(?:[^"\\\u0000-\u001f\u007f]|\\[^\u0000-\u001f\u007f])*"|[^\s"<>@\u0000-\u0020\u007f]+)@[^\s"<>@\u0000-\u0020\u007f]+$/u

function checkedAddress(candidate: string): string {
  if (!address.test(candidate)) {
    throw new Error(`Not fit for an SMTP envelope: ${JSON.stringify(candidate)}`)
  }
  return candidate
}

/** RFC 3461 §4: everything outside `!` to `~`, and `+` and `=`, as `+` and two hex digits. */
function xtext(value: string): string {
  return Buffer.from(value)
    .toString('latin1')
    .replace(
      /[^!-*,-<>-~]/g,
      (c) => `+${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
}
