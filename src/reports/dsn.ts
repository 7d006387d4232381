import { type Said, statusIn } from './classify.js'
import { addressIn, afterType, fieldBlocks, type ReportFields } from './fields.js'
import type { Message } from './message.js'
import { textBeforeOriginal } from './original.js'
import { codeIn, ownReply } from './own-reply.js'
import type { DsnAction, ReportedRecipient } from './report.js'

export interface DeliveryStatus {
  reportingMta: string
  recipients: ReportedRecipient[]
}

// RFC 6533 §5: the second is its form for internationalised addresses.
const statusTypes = ['message/delivery-status', 'message/global-delivery-status']
const maxRecipients = 100
const maxDiagnostic = 1_000

/** The machine-readable part of a report (RFC 3464), even if MIME no longer marks it as one. */
export function readDeliveryStatus({ parts, text }: Message): DeliveryStatus | undefined {
  for (const { type, body } of parts) {
    const found = statusTypes.includes(type) ? readBlocks(fieldBlocks(body)) : undefined
    if (found !== undefined) return found
  }
  // A relay or a list destroyed the MIME structure, or a program never made one. The returned
  // message is not searched, as it may contain somebody else's report.
  const texts = parts.filter(
    ({ type }) => type.startsWith('text/') && type !== 'text/rfc822-headers',
  )
  const bodies = [text, ...texts.map(({ body }) => body)]
  for (const body of bodies.map(textBeforeOriginal)) {
    const start = body.search(
      /^[ \t]?(?:Reporting-MTA|Final-Recipient|Original-Recipient)[ \t]*:/im,
    )
    const found = start < 0 ? undefined : readBlocks(fieldBlocks(body.slice(start)))
    if (found !== undefined) return found
  }
  return undefined
}

function readBlocks(blocks: readonly ReportFields[]): DeliveryStatus | undefined {
  const recipients: ReportedRecipient[] = []
  let reportingMta = ''
  for (const fields of blocks) {
    reportingMta ||= mtaIn(fields.get('reporting-mta'))
    if (!isRecipient(fields) || recipients.length === maxRecipients) continue
    recipients.push(readRecipient(fields))
  }
  return recipients.length > 0 ? { reportingMta, recipients } : undefined
}

/**
 * Some programs leave out the recipient, some the action: either one shows that the block is a
 * recipient's.
 */
const isRecipient = (fields: ReportFields) =>
  // RFC 8098 §3.2: a receipt has recipients too, but also a disposition.
  !fields.has('disposition') &&
  (fields.has('final-recipient') ||
    fields.has('original-recipient') ||
    (fields.has('action') && fields.has('status')))

function readRecipient(fields: ReportFields): ReportedRecipient {
  const diagnostic = afterType(fields.get('diagnostic-code'))
    .replace(/\s+/g, ' ')
    .slice(0, maxDiagnostic)
  // RFC 3464 §2.3.4 allows a comment after it: `5.0.0 (permanent failure)`.
  const given = /^[245]\.\d{1,3}\.\d{1,3}(?!\d)/.exec(fields.get('status') ?? '')?.[0] ?? ''
  const status = statusOf(given, diagnostic)
  return {
    action: actionIn(fields.get('action'), status),
    status,
    diagnostic,
    remoteMta: mtaIn(fields.get('remote-mta')),
    originalRecipient: unescaped(addressIn(fields.get('original-recipient'))),
    finalRecipient: unescaped(addressIn(fields.get('final-recipient'))),
  }
}

/** The server's words say more than the reporter's status. */
export function statusOf(given: string, diagnostic: string): string {
  const own = ownReply(diagnostic)
  const said = statusIn(own, codeIn(own))
  if (said === undefined) return given
  // `4.4.7` only says that the mail waited too long; the server's last words say why.
  const isVague = /^$|\.0\.0$|^[45]\.4\.7$/.test(given)
  // If the reporter also passes on a server's words, these are more exact than its status.
  return isVague || (own !== diagnostic && !said.endsWith('.0.0')) ? said : given
}

const actions: Readonly<Record<string, DsnAction>> = {
  failed: 'failed',
  failure: 'failed',
  fail: 'failed',
  expired: 'failed',
  undeliverable: 'failed',
  delayed: 'delayed',
  delay: 'delayed',
  deferred: 'delayed',
  delivered: 'delivered',
  deliverable: 'delivered',
  relayed: 'relayed',
  expanded: 'expanded',
}

/**
 * If the action is missing or unknown, the status decides: class 2 and 4 are never taken for a
 * failure.
 */
function actionIn(value: string | undefined, status: string): DsnAction {
  const word = /^[a-z]+/i.exec(value ?? '')?.[0].toLowerCase() ?? ''
  if (Object.hasOwn(actions, word)) return actions[word] ?? 'failed'
  if (status.startsWith('2')) return 'delivered'
  return status.startsWith('4') ? 'delayed' : 'failed'
}

function mtaIn(value: string | undefined): string {
  return /^[\w.-]{1,253}/.exec(afterType(value))?.[0].replace(/\.$/, '') ?? ''
}

/** RFC 6533 §3: `\x{f6}` stands for a character in utf-8-addr-xtext. */
function unescaped(address: string): string {
  return address.replace(/\\x\{([0-9a-f]{2,6})\}/gi, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/**
 * The input of `classify` for one recipient of a report. If the recipient's own server is not
 * named, `reporter`, the MTA that reports, tells whose words these are, or else the recipient's
 * domain.
 */
export function saidOf(recipient: ReportedRecipient, reporter: string): Said {
  const { action, diagnostic, finalRecipient, status, remoteMta } = recipient
  const domain = finalRecipient.slice(finalRecipient.lastIndexOf('@') + 1)
  const text = ownReply(diagnostic)
  const code = codeIn(text)
  // Sendmail and Exchange turn every 550 to RCPT into 5.1.1, whatever its reason.
  const isGuess = code >= 500 && status.startsWith('5.1.') && statusIn(text, code) === undefined
  return {
    text,
    code,
    status: isGuess ? undefined : status || (action === 'delayed' ? '4.0.0' : undefined),
    host: remoteMta || reporter || domain || undefined,
    // RFC 3464 §2.3.3: `failed` is final, even with 4.y.z (the mail was tried for days).
    final: action === 'failed',
  }
}
