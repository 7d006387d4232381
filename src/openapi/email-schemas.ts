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
import { attachmentSchemas, attachments } from './attachment-schemas.js'
import { closed, count, orNull, type Schema, shaped, text, time, uuid } from './describe.js'

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
const json = (what: string, maxBytes: number): Schema => ({
  type: 'object',
  description: `${what}; at most ${maxBytes / 1024} KiB as JSON`,
})

const from = address('On a verified domain', 'Shop <orders@example.com>')
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
const html = text(`At most ${maxContentBytes / 1024 ** 2} MiB`, {
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
  ...addresses('Where answers go', 0, maxReplyTo),
  examples: ['help@example.com'],
}

/**
 * The list of those that cannot be set is spelled out, because a 422 for a header that worked
 * elsewhere is otherwise a riddle.
 */
export const headers: Schema = {
  type: 'object',
  description: `Header fields of your own, at most ${maxHeaders} with ${maxHeaderBytes / 1024} KiB each and ${maxHeadersBytes / 1024} KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-*`,
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
  description: 'Each name once',
  properties: {
    name: text('1 to 64 of A-Z, a-z, 0-9, `_` and `-`', {
      pattern: `^[A-Za-z0-9_-]{1,${maxTagName}}$`,
    }),
    value: text('1 to 256 of these and `.:@/+=`', {
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
const metadata = json('Kept with the email and given back', maxMetadataBytes)

/** An alternative of `anyOf`: these fields are there, and none of them is null. */
const alternative = (title: string, ...required: string[]): Schema => ({
  ...{ type: 'object', title, required },
  properties: Object.fromEntries(required.map((name) => [name, { type: 'string' }])),
})

const transactional = 'With `transactional` alone'

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
      `Everybody sees everybody. Duplicates are mailed once, also across \`cc\` and \`bcc\`; together at most ${maxRecipients}`,
      1,
      maxRecipients,
    ),
    cc: addresses(`${transactional}. Everybody sees them in Cc`, 0, maxRecipients),
    bcc: addresses(
      `${transactional}. Nobody sees them: no copy of the mail names them`,
      0,
      maxRecipients,
    ),
    subject: subject(
      "Needed with `html`; with `template` it is Liquid and takes the place of the template's",
    ),
    html,
    template: text('The slug of a saved template', { examples: ['welcome'] }),
    variables: json(
      "The template's; those that it uses only within `if`, `unless` and `case` may be missing",
      maxVariablesBytes,
    ),
    text: plainText(
      'Made from the HTML if absent. Beside a template it is Liquid too, at most 256 KiB; a template that has a text part wins',
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
      default: 'transactional',
      description:
        'Marketing needs a marketing plan, honours unsubscribes and carries the means to unsubscribe (RFC 8058)',
    },
    topicId: uuid('With `marketing` alone: unsubscribing then leaves this topic alone'),
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
    phoneNumber: text('Looked up among all contacts of the account, whatever its notation', {
      examples: ['+2348031234567'],
    }),
    subject: subject('As shown to the recipient'),
    html,
    text: plainText('Made from the HTML if absent'),
    replyTo,
    metadata: { ...metadata, examples: [{ ussd: { sessionId: 'ATUid_1' } }] },
  },
  required: ['from', 'subject', 'html'],
  anyOf: [alternative('To an address', 'to'), alternative('By phone number', 'phoneNumber')],
}

/** The states of interface.md. `cancelled` and `suppressed` are ends that nothing leads out of. */
const emailStatus = text('Never leaves `cancelled` or `suppressed` (nobody is left to mail)', {
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
})

/**
 * Not in the contract: without it a mail that waits for an operator looks like one that is late.
 */
const held = (description: string): Schema => ({
  ...closed({
    since: orNull(time('Null where the whole account is stopped')),
    reason: text('Why, in a sentence'),
  }),
  description,
})

/**
 * The fields of the contract's email record are among these, under its names; `to` is joined by
 * commas there.
 */
const summary: Record<string, Schema> = {
  id: uuid('That of the answer to the send'),
  from: text('As given'),
  to: text('Joined by commas when there are several'),
  cc: { type: 'array', items: text('As given'), description: 'Seen by everybody' },
  bcc: { type: 'array', items: text('As given'), description: 'Seen by nobody' },
  subject: text('As sent'),
  tags: {
    type: 'array',
    items: shaped('Tag'),
    description: 'As given, or those of its campaign',
  },
  status: shaped('EmailStatus'),
  type: { type: 'string', enum: ['transactional', 'marketing'] },
  topicId: orNull(uuid('Of marketing mail')),
  broadcastId: orNull(uuid('The campaign that it is of')),
  template: orNull(text('The slug of the template that it was made from')),
  opensCount: count('Opens by people'),
  clicksCount: count('Clicks by people'),
  openedAt: orNull(time('The first open')),
  clickedAt: orNull(time('The first click')),
  scheduledAt: orNull(time('When it is, or was, to leave')),
  sentAt: orNull(time('When the first attempt began')),
  createdAt: time('When it was accepted'),
  // RFC 5322 §3.6.4. Clients compare it with what replies and reports name, and must not take it apart.
  messageId: text('Opaque'),
  // The contract's two words. Which smart host it was is the operator's matter.
  provider: {
    type: 'string',
    enum: ['primary', 'failover'],
    description: '`failover`: it went by the other path during an incident',
  },
}

/** What mails, and campaigns, tell of what was given for them. */
export const given = {
  replyTo: { type: 'array', items: text('As given'), description: 'Where answers go' },
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

/**
 * Closed: the answer has these fields and no others, so that a misspelt one is noticed by a test.
 */
const email = closed({
  ...summary,
  ...given,
  metadata: orNull({ type: 'object', description: 'As given' }),
  contentDeleted: {
    type: 'boolean',
    description:
      'Text, HTML and attachments were deleted, as they were as old as the operator keeps them; then `attachments` is empty',
  },
  held: orNull(
    held('All that the account sends waits, or some of this mail, until the operator releases it'),
  ),
  recipients: {
    type: 'array',
    description: 'What became of the mail for each recipient, in the order given',
    items: shaped('EmailRecipient'),
  },
})

/** One mail may go to 50 people with 50 fates, and the contract's single status cannot say that. */
const emailRecipient = closed({
  email: text('Only the address'),
  kind: text('The field it was given in; the first of `to`, `cc`, `bcc`', {
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
  attempts: count('Made so far'),
  nextAttemptAt: orNull(time('Null while one is under way, and at the end')),
  reply: orNull(text("The last reply of the recipient's server, word for word")),
  updatedAt: orNull(time('Of the last attempt, or of the end')),
  held: orNull(held('It waits until the operator releases it')),
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
  EmailQueued: closed({ id: uuid('The id of the email'), message: text('For people') }),
  EmailScheduled: closed({
    id: uuid('The id of the email'),
    status: { const: 'scheduled' },
    scheduledAt: time('In UTC'),
    message: text('For people'),
  }),
  BatchQueued: closed({
    queued: count('How many'),
    ids: {
      type: 'array',
      items: { type: 'string', format: 'uuid' },
      description: 'In input order',
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
    hasMore: { type: 'boolean', description: 'Ask again with the cursor' },
    nextCursor: orNull(text('For `cursor`; null at the end')),
  }),
  EmailFound: closed({ email: shaped('Email') }),
  Email: email,
  EmailStatus: emailStatus,
  EmailRecipient: emailRecipient,
  ...attachmentSchemas,
  EmailCancelled: closed({ message: text('For people') }),
}
