import { attachments } from './attachment-schemas.js'
import { pageFields } from './common.js'
import { closed, count, orNull, type Schema, shaped, text, time, uuid } from './describe.js'
import { given, headers, replyTo, tags, unknownFields } from './email-schemas.js'

const status = (only: string): Schema => ({ const: only })
const line = (description: string) => text(description, { minLength: 1, maxLength: 200 })
const id = uuid('The campaign')
// In percent, as the contract has it for campaigns; the figures of `stats` are ratios.
const percent = (description: string): Schema => ({ type: 'number', minimum: 0, description })

/** Create, change and test have these in common, so that they are described once. */
const fields = {
  listId: uuid('Whom it is for'),
  from: text('On a verified domain of the account', { examples: ['News <news@example.com>'] }),
  subject: line('At most 200 characters; merge tags as in the HTML'),
  html: text(
    'Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. The text part is made from it.',
    { minLength: 1 },
  ),
  topicId: uuid('Who has left the topic gets nothing, and unsubscribing is from this topic only'),
  name: line('For yourself; recipients never see it'),
  replyTo,
  headers,
  tags,
  attachments,
  scheduledAt: text(
    'When to dispatch it: ISO 8601, in the future, however far ahead; UTC if it has no zone',
    { examples: ['2026-12-24T18:00:00Z'] },
  ),
}
const required = ['listId', 'from', 'subject', 'html']

/** What a list shows of a campaign; the detail adds figures and recipients to it. */
const shown = {
  id,
  name: orNull(text('For yourself')),
  subject: text('As given, with its merge tags'),
  status: text(
    '`sent`: every mail has ended, or was handed to a smart host. `paused`: by the operator, or because the account is',
    { enum: ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled', 'failed'] },
  ),
  pausedReason: orNull(text('Why it is paused')),
  pausedBy: orNull(
    text('Whose pause it is: `account` resumes its own, `operator` any', {
      enum: ['account', 'operator'],
    }),
  ),
  failedReason: orNull(text('Why it could not be dispatched at its time')),
  listId: uuid('Whom it is for'),
  topicId: orNull(uuid('Its topic')),
  recipientCount: count('How many it is for; before it is dispatched, how many it would be'),
  scheduledAt: orNull(time('When it is or was to be dispatched')),
  sentAt: orNull(time('When it was dispatched')),
  createdAt: time('When it was made'),
  stats: shaped('BroadcastStats'),
}

const recipients = count('Who gets it')
/**
 * The fields that interface.md names for a recipient, no more: there may be 1,000 of them in one
 * answer.
 */
const recipient = {
  email: text('The address'),
  status: shaped('EmailStatus'),
  openedAt: orNull(time('The first open')),
  clickedAt: orNull(time('The first click')),
  opensCount: count('Opens by people'),
  clicksCount: count('Clicks by people'),
}

export const broadcastSchemas: Record<string, Schema> = {
  NewBroadcast: {
    type: 'object',
    description: `${unknownFields}.`,
    properties: {
      ...fields,
      draft: { type: 'boolean', description: 'Keeps it until it is sent by its own endpoint' },
    },
    required,
  },
  // Null would mean absent, so an empty text takes a topic, a name or a time away.
  BroadcastChanges: {
    type: 'object',
    description: `What is to be changed, at least one. ${unknownFields}.`,
    properties: {
      ...fields,
      topicId: text('Empty: no topic'),
      name: text('At most 200 characters; empty: none', { maxLength: 200 }),
      scheduledAt: text('As for a new one; empty: none, so that it is sent at once', {
        examples: ['2026-12-24T18:00:00Z'],
      }),
    },
  },
  TestBroadcast: {
    type: 'object',
    description: `The campaign, and whom to send it to. ${unknownFields}.`,
    properties: {
      ...fields,
      to: text('A mailbox on a verified domain of the account', {
        examples: ['me@example.com'],
      }),
    },
    required: [...required, 'to'],
  },
  BroadcastAudience: {
    type: 'object',
    properties: { listId: fields.listId, topicId: fields.topicId },
    required: ['listId'],
  },
  // Masked addresses show that it is the right list, and nobody exports a list by looking at a campaign.
  BroadcastPreview: closed({
    recipientCount: count('Who would get it now'),
    sample: {
      type: 'array',
      maxItems: 5,
      items: text('Masked'),
      description: 'Some of them',
    },
    note: text('For people'),
  }),
  TestSent: closed({
    id: uuid('The email, to look at by its own endpoint'),
    message: text('For people'),
  }),
  BroadcastSending: closed({ id, status: status('sending'), recipientCount: recipients }),
  BroadcastScheduled: closed({
    id,
    status: status('scheduled'),
    scheduledAt: time('When it will be dispatched'),
    estimatedRecipients: count('Who would get it now'),
  }),
  BroadcastDraft: closed({
    id,
    status: status('draft'),
    estimatedRecipients: count('Who would get it now'),
  }),
  BroadcastPaused: closed({ id, status: status('paused'), message: text('For people') }),
  BroadcastResumed: closed({ id, message: text('For people') }),
  BroadcastCancelled: closed({ id, status: status('cancelled'), message: text('For people') }),
  BroadcastStats: closed({
    recipients: count('Mails made so far'),
    delivered: count('Taken on by the recipient’s server'),
    bounced: count('Refused by it for good'),
    opened: count('Mails that people opened'),
    clicked: count('Mails in which people clicked'),
    openRate: percent('In percent of what has arrived'),
    clickRate: percent('In percent of what has arrived'),
  }),
  Broadcast: closed(shown),
  Broadcasts: closed({
    broadcasts: { type: 'array', maxItems: 500, items: shaped('Broadcast') },
    hasMore: { type: 'boolean' },
    nextCursor: orNull(text('`cursor` of the next page; null at the end')),
  }),
  BroadcastDetail: closed({
    ...shown,
    from: text('As given'),
    ...given,
    tags: { type: 'array', items: shaped('Tag'), description: 'Those of its mails' },
    progress: closed({
      waiting: count('Mails that have not ended'),
      relayed: count('Handed to a smart host, which has told no more'),
      failed: count('Given up after the time for which mail is tried'),
      suppressed: count('Left out on departure: unsubscribed, bounced or complained since'),
      cancelled: count('Cancelled by the operator'),
      waitsForRoom: {
        type: 'boolean',
        description:
          'Mails are still to be made, and the appliance has no room for more now: its queue or its disk is full. It goes on by itself',
      },
    }),
    recipients: {
      type: 'array',
      maxItems: 1_000,
      description: 'The first 1,000',
      items: closed(recipient),
    },
  }),
  BroadcastRecipients: closed({
    recipients: {
      type: 'array',
      items: closed({ emailId: uuid('The mail'), ...recipient }),
    },
    ...pageFields,
  }),
  MarketingUsage: closed(
    {
      plan: closed({
        id: uuid('Stays the same when the plan is renamed'),
        name: text('Shown to people'),
        priceNaira: { type: 'number', minimum: 0, description: 'A month, in Naira' },
        maxMarketingContacts: count('How many contacts it allows'),
      }),
      subscribed: {
        type: 'boolean',
        description: 'Whether the account has the plan; if not, it is the smallest there is',
      },
      contacts: count('Contacts held'),
      contactLimit: count('How many may be held; 0 together with `unlimitedContacts`'),
      unlimitedContacts: { const: true, description: 'Only without any limit' },
      monthlySendLimit: orNull(count('Campaign mails a calendar month, UTC; null for any number')),
      sentThisMonth: count('Campaign mails counted this month'),
      unlimitedSends: { type: 'boolean' },
      periodEnd: time('When the count starts again'),
      paused: { type: 'boolean', description: 'No campaign mail leaves' },
      pausedReason: orNull(text('Why')),
    },
    ['unlimitedContacts'],
  ),
}
