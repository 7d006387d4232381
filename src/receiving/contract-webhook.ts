import { closedOf, manyOf } from '../contract/index.js'
import type { Schema } from '../fields/index.js'
import { count, orNull, text, uuid } from '../fields/index.js'
import { exampleOfMail, file, summary } from './contract-mail.js'

const {
  id: ofMail,
  state,
  from,
  envelopeFrom,
  ruleId,
  inReplyTo,
  checks,
  spam,
  automatic,
  loop,
  size,
} = summary

/** The fields of `email.received` beside those of every webhook. */
export const receivedInWebhook: Schema = {
  ...closedOf({
    receivedId: ofMail,
    state,
    fault: orNull(text('Why its parts cannot be read; null: they can')),
    from,
    envelopeFrom,
    ruleId,
    inReplyTo,
    answers: orNull(uuid('The mail of yours that it answers; null: none that is known')),
    text: orNull(
      text('What its sender has written, without what is quoted; at most 65,536 characters'),
    ),
    hasHtml: { type: 'boolean', description: 'Whether it has HTML, which `GET` has' },
    headers: manyOf({ name: text('The name'), value: text('The value, decoded, on one line') }),
    incomplete: {
      type: 'boolean',
      description: 'True: this is not all of it, or it cannot be read; `GET` has the rest',
    },
    checks,
    spam,
    automatic,
    loop,
    size,
    attachments: manyOf({ ...file, number: count('Its place among the files, counted from 1') }),
  }),
  description: 'Only on `email.received`: `GET /v1/received/{emailId}` has all of it',
}

const { id, recipient, subject, receivedAt, messageId } = exampleOfMail

export const receivedExample = {
  event: 'email.received' as const,
  emailId: id,
  to: [recipient],
  subject,
  status: 'received',
  timestamp: receivedAt,
  messageId,
  received: {
    receivedId: exampleOfMail.id,
    state: exampleOfMail.state,
    fault: null,
    from: exampleOfMail.from,
    envelopeFrom: exampleOfMail.envelopeFrom,
    ruleId: exampleOfMail.ruleId,
    inReplyTo: exampleOfMail.inReplyTo,
    answers: exampleOfMail.emailId,
    text: 'It has arrived, thank you!',
    hasHtml: false,
    headers: [{ name: 'Subject', value: subject }],
    incomplete: false,
    checks: exampleOfMail.checks,
    spam: null,
    automatic: null,
    loop: false,
    size: exampleOfMail.size,
    attachments: [],
  },
}
