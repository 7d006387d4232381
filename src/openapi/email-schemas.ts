import { confirmation, pageFields } from '../contract/index.js'
import {
  maxBatch,
  maxContentBytes,
  maxHeaderBytes,
  maxHeaders,
  maxHeadersBytes,
  maxMetadataBytes,
  maxRecipients,
  maxReplyTo,
  maxSubjectBytes,
  maxTagName,
  maxTags,
  maxTagValue,
  maxVariablesBytes,
} from '../emails/index.js'
import {
  alternative,
  closed,
  count,
  openObject,
  orNull,
  ownData,
  type Schema,
  shaped,
  text,
  time,
  uuid,
} from '../fields/index.js'
import { attachmentSchemas, attachments } from './attachment-schemas.js'

export const unknownFields =
  'Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422'

/*
 * Requests are open, as unknown fields are ignored; answers are closed. Some limits are in bytes, while JSON Schema
 * counts characters: `maxLength` then has the same number, which no text within the limit exceeds.
 */
const address = (description: string, example: string) =>
  text(`${description}: \`email@domain\` or \`Name <email@domain>\``, { examples: [example] })

/**
 * Bounds of our own, which interface.md leaves open: they keep one request from filling the
 * database.
 */
const json = (what: string, maxBytes: number): Schema =>
  ownData(`${what}; at most ${maxBytes / 1024} KiB as JSON`)

const from = address('The sender, on a verified domain', 'Shop <orders@example.com>')
const recipient = address('An address', 'Ann <ann@example.org>')
/**
 * In bytes and not in characters, because the line of a header is bounded in octets (RFC 5322
 * §2.1.1).
 */
const subject = (description: string) =>
  text(`${description}; at most ${maxSubjectBytes} bytes, no control characters`, {
    minLength: 1,
    maxLength: maxSubjectBytes,
  })
/** Two MiB is far over what any client shows: Gmail cuts a mail after 102 kB. */
const html = text(`The HTML, at most ${maxContentBytes / 1024 ** 2} MiB`, {
  minLength: 1,
  maxLength: maxContentBytes,
})
const plainText = (description: string) => text(description, { maxLength: maxContentBytes })
/** One address, or some. */
const addresses = (description: string, minItems: number, maxItems: number): Schema => ({
  description,
  oneOf: [recipient, { type: 'array', items: recipient, minItems, maxItems }],
})

/** RFC 5322 §3.6.2 allows several addresses, and so does this. */
export const replyTo: Schema = {
  ...addresses('The address, or addresses, that answers go to', 0, maxReplyTo),
  examples: ['help@example.com'],
}

/**
 * The list of those that cannot be set is spelled out, because a 422 for a header that worked
 * elsewhere is otherwise a riddle.
 */
export const headers: Schema = {
  type: 'object',
  description: `Header fields of your own, at most ${maxHeaders} with ${maxHeaderBytes / 1024} KiB each and ${maxHeadersBytes / 1024} KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-*. Mail of campaigns and automations has a Feedback-ID, in whose place one of yours stands`,
  additionalProperties: { type: 'string', minLength: 1 },
  maxProperties: maxHeaders,
  examples: [{ 'X-Entity-Ref-ID': '4711', 'In-Reply-To': '<123@example.com>' }],
}

/**
 * Few characters, as a tag stands in URLs (`?tag=name:value`), in CSV and in the columns of
 * figures.
 */
export const tag: Schema = {
  type: 'object',
  description: 'A tag: a name and a value. Each name once in a mail',
  properties: {
    name: text('The name: 1 to 64 of A-Z, a-z, 0-9, `_` and `-`', {
      pattern: `^[A-Za-z0-9_-]{1,${maxTagName}}$`,
    }),
    value: text('The value: 1 to 256 of these and `.:@/+=`', {
      pattern: `^[A-Za-z0-9_.:@/+=-]{1,${maxTagValue}}$`,
    }),
  },
  required: ['name', 'value'],
}

/** Each name once: a mail that counts twice in the same group would make the figures wrong. */
export const tags: Schema = {
  type: 'array',
  description:
    'Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once',
  items: shaped('Tag'),
  maxItems: maxTags,
  examples: [[{ name: 'kind', value: 'receipt' }]],
}
const metadata = json('Data of your own, kept with the email and given back', maxMetadataBytes)

const transactional = 'Only for `transactional` mail'

/**
 * The contract's fields, and ours after them (cc, bcc, headers, tags, attachments). What is
 * required depends on others (`html` or `template`), which JSON Schema could say only in
 * alternatives that generated clients cannot use; the description says it.
 */
const send: Schema = {
  type: 'object',
  description: `Exactly one of \`html\` and \`template\`. ${unknownFields}.`,
  properties: {
    from,
    to: addresses(
      `The recipients, who see each other. An address that is there twice, also in \`cc\` or \`bcc\`, is mailed once; all three fields have at most ${maxRecipients} together`,
      1,
      maxRecipients,
    ),
    cc: addresses(
      `${transactional}. Recipients of a copy, whom everybody sees in Cc`,
      0,
      maxRecipients,
    ),
    bcc: addresses(
      `${transactional}. Recipients of a copy, whom nobody sees: no copy of the mail names them`,
      0,
      maxRecipients,
    ),
    subject: subject(
      "The subject: needed with `html`; with `template` it is Liquid and takes the place of the template's",
    ),
    html,
    template: text('The slug of a saved template', { examples: ['welcome'] }),
    variables: json(
      'The values of the variables of the template; those that it uses only within `if`, `unless` and `case` may be missing',
      maxVariablesBytes,
    ),
    text: plainText(
      'The text part, made from the HTML if absent. Beside a template it is Liquid too, at most 256 KiB; a template that has a text part wins',
    ),
    replyTo,
    headers,
    tags,
    scheduledAt: text(
      'When to send it: ISO 8601, in the future and at most 90 days ahead; UTC if it has no zone',
      { examples: ['2026-12-24T18:00:00Z'] },
    ),
    type: {
      type: 'string',
      enum: ['transactional', 'marketing'],
      description:
        'Default: `transactional`. Marketing mail needs a marketing plan, honours unsubscribes and carries the means to unsubscribe (RFC 8058)',
    },
    topicId: uuid(
      'The topic, only for `marketing` mail: unsubscribing is then from this topic only',
    ),
    attachments,
    metadata,
  },
  required: ['from', 'to'],
  // By `required` alone, so that generated clients keep one type; `client-types.ts` makes the union of it.
  oneOf: [alternative('Raw HTML', 'html', 'subject'), alternative('From a template', 'template')],
}

/** The gateways that call this send `phoneNumber` in any notation; it is compared in E.164. */
const ussd: Schema = {
  type: 'object',
  description: `At least one of \`to\` and \`phoneNumber\`; \`to\` wins. ${unknownFields}.`,
  properties: {
    from,
    to: recipient,
    phoneNumber: text(
      'The phone number of the recipient in any notation, looked up among all contacts of the account',
      {
        examples: ['+2348031234567'],
      },
    ),
    subject: subject('The subject, as the recipient sees it'),
    html,
    text: plainText('The text part, made from the HTML if absent'),
    replyTo,
    metadata: { ...metadata, examples: [{ ussd: { sessionId: 'ATUid_1' } }] },
  },
  required: ['from', 'subject', 'html'],
  anyOf: [alternative('To an address', 'to'), alternative('By phone number', 'phoneNumber')],
}

/** The states of interface.md. `cancelled` and `suppressed` are ends that nothing leads out of. */
const emailStatus = text(
  '`suppressed`: nobody is left to mail. `cancelled` and `suppressed` never change',
  {
    enum: [
      'queued',
      'scheduled',
      'sending',
      'sent',
      'delivered',
      'bounced',
      'failed',
      'cancelled',
      'suppressed',
    ],
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
 * The fields of the contract's email record are among these, under its names; `to` is joined by
 * commas there.
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
  // The contract's two words. Which smart host it was is the operator's matter.
  provider: {
    type: 'string',
    enum: ['primary', 'failover'],
    description: '`failover`: it went by the other path during an incident',
  },
}

/** What mails, and campaigns, tell of what was given for them. */
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
    'What you should know though it was taken: that the HTML is too long to be made into a text part as a whole. Most have none',
  items: { type: 'string' },
}

/**
 * Closed: the answer has these fields and no others, so that a misspelt one is noticed by a test.
 */
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

/** What a request or answer as a whole looks like; the parts stand above. */
export const emailSchemas: Record<string, Schema> = {
  Send: send,
  Batch: {
    type: 'object',
    description: 'All or none of them are queued.',
    properties: {
      emails: { type: 'array', items: shaped('Send'), minItems: 1, maxItems: maxBatch },
      attachments: {
        ...attachments,
        description:
          'Each of the emails has these beside its own: a file that all of them carry is sent and read once',
      },
    },
    required: ['emails'],
  },
  Ussd: ussd,
  EmailQueued: closed({ id: uuid('The id of the email'), message: confirmation }),
  EmailScheduled: closed({
    id: uuid('The id of the email'),
    status: { const: 'scheduled' },
    scheduledAt: time('When it will leave, in UTC'),
    message: confirmation,
  }),
  BatchQueued: closed({
    queued: count('How many mails were queued'),
    ids: {
      type: 'array',
      items: { type: 'string', format: 'uuid' },
      description: 'The ids of the mails, in the order of `emails`',
    },
  }),
  UssdQueued: closed({ queued: { const: true }, ref: uuid('The id of the email') }),
  EmailSummary: closed(summary),
  EmailList: closed({
    emails: {
      type: 'array',
      items: shaped('EmailSummary'),
      description: 'Newest first; may be fewer than `limit`, or none, although there are more',
    },
    ...pageFields,
  }),
  EmailFound: closed({ email: shaped('Email') }),
  Email: email,
  EmailStatus: emailStatus,
  EmailRecipient: emailRecipient,
  ...attachmentSchemas,
  EmailCancelled: closed({ message: confirmation }),
}
