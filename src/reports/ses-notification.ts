import { addressesIn, addressIn, afterType } from './fields.js'
import type { Message } from './message.js'
import type { DsnAction, ReportedRecipient } from './report.js'

const maxText = 64 * 1024
const maxRecipients = 100

/**
 * As a relay, Amazon SES tells of bounces and deliveries by SNS, in mails of JSON. Its long lines are
 * broken on the way, so that it is no longer valid JSON, and this does not rely on its structure.
 */
export function readSesNotification(message: Message): ReportedRecipient[] | undefined {
  if (!/notificationType|eventType/.test(message.text)) return undefined
  const text = message.text
    .slice(0, maxText)
    .replace(/\n[ \t]?/g, '')
    .replace(/\\+"/g, '"')
  const kind = /"(?:notificationType|eventType)"[ ]?:[ ]?"(Bounce|Delivery)"/.exec(text)?.[1]
  if (kind === undefined) return undefined
  const recipients = kind === 'Bounce' ? bouncedIn(text) : deliveredIn(text)
  return recipients.length > 0 ? recipients : undefined
}

function deliveredIn(text: string): ReportedRecipient[] {
  const list = /"smtpResponse"/.test(text)
    ? /"recipients"[ ]?:[ ]?\[([^\]]{1,20000})\]/.exec(text)
    : null
  return addressesIn(list?.[1] ?? '', maxRecipients).map((finalRecipient) => ({
    action: 'delivered',
    status: '',
    diagnostic: '',
    remoteMta: '',
    originalRecipient: '',
    finalRecipient,
  }))
}

function bouncedIn(text: string): ReportedRecipient[] {
  const remoteMta = /"remoteMtaIp"[ ]?:[ ]?"([\w.:-]{1,253})"/.exec(text)?.[1] ?? ''
  const recipients: ReportedRecipient[] = []
  for (const [block] of text.matchAll(/\{[^{}]{0,20}"emailAddress"[^{}]{0,4000}\}/g)) {
    if (recipients.length === maxRecipients) break
    const field = (name: string) =>
      new RegExp(`"${name}"[ ]?:[ ]?"([^"]{0,2000})"`).exec(block)?.[1] ?? ''
    const actions: readonly DsnAction[] = ['delayed', 'delivered', 'relayed', 'expanded']
    recipients.push({
      action: actions.find((action) => action === field('action')) ?? 'failed',
      status: /^[245]\.\d{1,3}\.\d{1,3}(?!\d)/.exec(field('status'))?.[0] ?? '',
      diagnostic: afterType(field('diagnosticCode')).replace(/\s+/g, ' ').slice(0, 1_000),
      remoteMta,
      originalRecipient: '',
      finalRecipient: addressIn(field('emailAddress')),
    })
  }
  return recipients
}
