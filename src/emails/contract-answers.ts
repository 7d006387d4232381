import {
  closed,
  count,
  openObject,
  orNull,
  type Schema,
  shaped,
  text,
  time,
  uuid,
} from '../fields/index.js'
import { attachmentShapes } from './contract-attachments.js'
import { emailStatuses } from './list-query.js'

/** The states of interface.md. `cancelled` and `suppressed` are final. */
const emailStatus = text(
  '`suppressed`: nobody is left to mail. `cancelled` and `suppressed` never change',
  {
    enum: emailStatuses,
  },
)

/**
 * Not in the contract: without it a mail that waits for an operator looks like one that is late.
 */
const held = (description: string): Schema => ({
  ...closed({
    since: orNull(time('Since when; null where the whole account is stopped')),
    reason: text('Why it waits, in a sentence'),
  }),
  description,
})

const named = text('An address, as the request named it')

/**
 * These include the fields of the contract's email record, under its names; the contract joins `to`
 * with commas.
 */
const summary: Record<string, Schema> = {
  id: uuid('The id of the mail, which a send is answered with'),
  from: text('The sender, as the request named it'),
  to: text('The recipients as the request named them, joined by commas when there are several'),
  cc: {
    type: 'array',
    items: named,
    description: 'Recipients of a copy, whom everybody sees',
  },
  bcc: {
    type: 'array',
    items: named,
    description: 'Recipients of a copy, whom nobody sees',
  },
  subject: text('The subject, as it is sent'),
  tags: {
    type: 'array',
    items: shaped('Tag'),
    description: 'The tags of the mail, or of its campaign',
  },
  status: shaped('EmailStatus'),
  type: { type: 'string', enum: ['transactional', 'marketing'] },
  topicId: orNull(uuid('The topic; null for mail without one')),
  broadcastId: orNull(uuid('The campaign that the mail belongs to; null: none')),
  template: orNull(text('The slug of the template that it was made from; null: none')),
  opensCount: count('How often people opened it; machines are not counted'),
  clicksCount: count('How often people clicked a link in it; machines are not counted'),
  openedAt: orNull(time('When a person first opened it; null: not yet')),
  clickedAt: orNull(time('When a person first clicked a link in it; null: not yet')),
  scheduledAt: orNull(time('When it is, or was, to leave; null: no time was given')),
  sentAt: orNull(time('When the first attempt began; null before')),
  createdAt: time('When it was accepted'),
  // RFC 5322 §3.6.4. Clients compare it with what replies and reports name, and must not take it apart.
  messageId: text('The Message-ID: compare it, do not take it apart'),
  // The contract's two words. Only the operator needs to know which smart host it was.
  provider: {
    type: 'string',
    enum: ['primary', 'failover'],
    description: '`failover`: it went by the other path during an incident',
  },
  test: {
    type: 'boolean',
    description: 'True: a key of the scope `test` has sent it, and it went to the test inbox alone',
  },
}

/** What mails and campaigns show of the values that were given for them. */
export const given = {
  replyTo: { type: 'array', items: named, description: 'The addresses that answers go to' },
  headers: {
    type: 'object',
    description: 'The headers that were given',
    additionalProperties: { type: 'string' },
  },
  attachments: {
    type: 'array',
    description: 'The attachments, without their bytes',
    items: shaped('EmailAttachment'),
  },
} satisfies Record<string, Schema>

/** Of a mail, and of a campaign. */
export const warnings: Schema = {
  type: 'array',
  description:
    'What you should know though it was taken: that the HTML is too long to be made into a text part as a whole, that versions of a campaign are alike, or that a merge tag of a campaign is no field of its contacts. Most have none',
  items: { type: 'string' },
}

/** Closed: the answer has these fields and no others, so that a test notices a misspelt one. */
const email = closed({
  ...summary,
  ...given,
  metadata: orNull(openObject('The metadata, as given; null: none')),
  contentDeleted: {
    type: 'boolean',
    description:
      'True: text, HTML and attachments were deleted, as they were older than the operator keeps them; `attachments` is empty then',
  },
  warnings,
  held: orNull(
    held(
      'All that the account sends waits, or some of this mail, until the operator releases it; null: nothing is held',
    ),
  ),
  recipients: {
    type: 'array',
    description: 'What became of the mail for each recipient, in the order given',
    items: shaped('EmailRecipient'),
  },
})

/** One mail may go to 50 people with 50 fates, and the contract's single status cannot say that. */
const emailRecipient = closed({
  email: text('The address, without a name'),
  kind: text('The field that names the recipient; if several do, the first of `to`, `cc`, `bcc`', {
    enum: ['to', 'cc', 'bcc'],
  }),
  status: {
    type: 'string',
    description: '`sent`: a smart host has taken it on; what became of it there is not known',
    enum: [
      'queued',
      'deferred',
      'sent',
      'delivered',
      'bounced',
      'failed',
      'cancelled',
      'suppressed',
    ],
  },
  attempts: count('How many attempts were made so far'),
  nextAttemptAt: orNull(
    time('When the next attempt is due; null during one, while it is held, and at the end'),
  ),
  reply: orNull(text("The last reply of the recipient's server, word for word; null: none")),
  updatedAt: orNull(time('When the last attempt was made, or when it ended; null before')),
  held: orNull(held('It waits until the operator releases it; null: it is not held')),
})

/** The shapes that others refer to by name. */
export const emailShapes = (): Record<string, Schema> => ({
  EmailSummary: closed(summary),
  Email: email,
  EmailStatus: emailStatus,
  EmailRecipient: emailRecipient,
  ...attachmentShapes(),
})

export const exampleId = '01a1fc92-9915-7533-8296-04ee3d91dd72'
/**
 * All examples are about this mail, so that whoever copies the send can go on with the read's answer.
 */
export const exampleSend = {
  from: 'Shop <orders@example.com>',
  to: 'ann@example.org',
  subject: 'Your order 4711',
  html: '<p>Thank you, Ann!</p>',
}
/** The mail as the list shows it; the read adds its recipients and content. */
export const exampleSummary = {
  id: exampleId,
  from: exampleSend.from,
  to: exampleSend.to,
  cc: [],
  bcc: ['archive@example.com'],
  subject: exampleSend.subject,
  tags: [{ name: 'kind', value: 'receipt' }],
  status: 'delivered',
  type: 'transactional',
  topicId: null,
  broadcastId: null,
  template: null,
  opensCount: 0,
  clicksCount: 0,
  openedAt: null,
  clickedAt: null,
  scheduledAt: null,
  sentAt: '2026-11-21T12:00:00.031Z',
  createdAt: '2026-11-21T12:00:00.000Z',
  messageId: `<${exampleId}@example.com>`,
  provider: 'primary',
  test: false,
}
/** The same mail as the read answers it. */
export const exampleEmail = {
  ...exampleSummary,
  replyTo: ['help@example.com'],
  headers: { 'X-Entity-Ref-ID': '4711' },
  metadata: { order: 4711 },
  attachments: [
    {
      filename: 'invoice.pdf',
      contentType: 'application/pdf',
      size: 48_211,
      contentId: null,
      disposition: 'attachment',
    },
  ],
  contentDeleted: false,
  warnings: [],
  held: null,
  recipients: [
    {
      email: 'ann@example.org',
      kind: 'to',
      status: 'delivered',
      attempts: 1,
      nextAttemptAt: null,
      reply: '250 2.0.0 OK: queued as 4Xyz',
      updatedAt: '2026-11-21T12:00:00.412Z',
      held: null,
    },
    {
      email: 'archive@example.com',
      kind: 'bcc',
      status: 'delivered',
      attempts: 1,
      nextAttemptAt: null,
      reply: '250 2.0.0 OK: queued as 4Xyza',
      updatedAt: '2026-11-21T12:00:00.498Z',
      held: null,
    },
  ],
}
