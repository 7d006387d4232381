import { type Infer, optional, refine, type } from 'superstruct'
import { findByPhone } from '../contacts/index.js'
import { type AcceptedEmail, type Alongside, acceptEmail } from './accept.js'
import type { EmailDeps } from './deps.js'
import { Content, filled, Metadata, Recipient, ReplyTo, Sender, Subject } from './send-body.js'

const Fields = type({
  from: Sender,
  phoneNumber: optional(filled('a string: a phone number')),
  to: optional(Recipient),
  subject: Subject,
  html: Content(1),
  text: optional(Content(0)),
  replyTo: optional(ReplyTo),
  metadata: optional(Metadata),
})

/** A mail that a USSD callback asks for: to an address, or to the contact with a phone number. */
export const UssdBody = refine(Fields, 'required', (body) => {
  if (body.to !== undefined || body.phoneNumber !== undefined) return true
  const message = 'Expected an address where there is no phoneNumber'
  return { path: ['to'], key: 'to', value: undefined, type: Recipient.type, message }
})

/** Takes the mail in as any other transactional one. */
export async function acceptUssd(
  deps: EmailDeps,
  accountId: string,
  { phoneNumber, to, ...mail }: Infer<typeof Fields>,
  alongside?: Alongside<AcceptedEmail>,
): Promise<AcceptedEmail> {
  const recipient =
    to ??
    (await findByPhone(deps.store.read, accountId, phoneNumber ?? '', deps.defaultCountry)).email
  const { from, subject, html, text, replyTo, metadata } = mail
  const input = { from, to: recipient, subject, html, text, replyTo, metadata }
  return await acceptEmail(deps, accountId, input, alongside)
}
