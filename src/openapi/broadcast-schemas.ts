import { confirmation, pageFields } from '../contract/index.js'
import { closed, count, orNull, type Schema, shaped, text, time, uuid } from '../fields/index.js'
import { attachments } from './attachment-schemas.js'
import { given, headers, replyTo, tags, unknownFields, warnings } from './email-schemas.js'

const status = (only: string): Schema => ({ const: only })
const line = (description: string) => text(description, { minLength: 1, maxLength: 200 })
const id = uuid('The id of the campaign')
// In percent, as the contract has it for campaigns; the figures of `stats` are ratios.
const percent = (description: string): Schema => ({ type: 'number', minimum: 0, description })

/** Create, change and test have these in common, so that they are described once. */
const fields = {
  listId: uuid('The contact list that it goes to'),
  from: text('The sender, on a verified domain of the account', {
    examples: ['News <news@example.com>'],
  }),
  subject: line(
    'The subject, at most 200 characters; merge tags as in the HTML, but those of links. One that is empty for somebody of whom nothing is known is a 422',
  ),
  html: text(
    'The content in Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. `{{ unsubscribe_url }}` and `{{ preferences_url }}` are the recipient\'s own links, `{{ unsubscribe_footer }}` places the footer: without it the footer is at the end, and it is left out where a link of yours leads to `{{ unsubscribe_url }}`. In an `href` a tag may be percent-encoded (`%7B%7B`). The text part is made from it.',
    { minLength: 1 },
  ),
  topicId: uuid(
    'The topic: whoever has left it gets nothing, and unsubscribing is from this topic only',
  ),
  name: line('A name for yourself, which recipients never see'),
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
  name: orNull(text('Its name, for yourself; null when it has none')),
  subject: text('The subject as given, with its merge tags'),
  status: text(
    '`sent`: every mail has ended, or was handed to a smart host. `paused`: by the operator, or because the account is',
    { enum: ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled', 'failed'] },
  ),
  pausedReason: orNull(text('Why it is paused; null when it is not')),
  pausedBy: orNull(
    text(
      'Who has paused it; null when it is not paused. The account resumes only its own pauses, the operator any. A campaign whose list has grown beyond what the plan has room for this month is the account’s to resume',
      {
        enum: ['account', 'operator'],
      },
    ),
  ),
  failedReason: orNull(
    text('Why it could not be dispatched; null unless its `status` is `failed`'),
  ),
  listId: uuid('The contact list that it goes to'),
  topicId: orNull(uuid('Its topic; null when it has none')),
  recipientCount: count(
    'How many recipients it has; before it is dispatched, how many it would have',
  ),
  scheduledAt: orNull(time('When it is or was to be dispatched; null: no time was given')),
  sentAt: orNull(time('When it was dispatched; null before')),
  createdAt: time('When the campaign was made'),
  stats: shaped('BroadcastStats'),
}

const recipients = count('How many recipients it has')
/**
 * The fields that interface.md names for a recipient, no more: there may be 1,000 of them in one
 * answer.
 */
const recipient = {
  email: text('The address of the recipient'),
  status: shaped('EmailStatus'),
  openedAt: orNull(time('When a person first opened the mail; null: not yet')),
  clickedAt: orNull(time('When a person first clicked a link in it; null: not yet')),
  opensCount: count('How often people opened it; machines are not counted'),
  clicksCount: count('How often people clicked a link in it; machines are not counted'),
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
    minProperties: 1,
    description: `What is to be changed, at least one. ${unknownFields}.`,
    properties: {
      ...fields,
      topicId: text('The id of the topic; an empty text takes it away'),
      name: text('A name of at most 200 characters; an empty text takes it away', {
        maxLength: 200,
      }),
      scheduledAt: text(
        'When to dispatch it, as for a new campaign. An empty text takes the time away: the draft then goes at once when you send it',
        {
          examples: ['2026-12-24T18:00:00Z'],
        },
      ),
    },
  },
  TestBroadcast: {
    type: 'object',
    description: `The campaign, and whom to send it to. ${unknownFields}.`,
    properties: {
      ...fields,
      to: text(
        'The mailbox that gets the test: of an active team member, or one on a verified domain of the account',
        {
          examples: ['me@example.com'],
        },
      ),
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
    recipientCount: count('How many recipients would get it now'),
    sample: {
      type: 'array',
      maxItems: 5,
      items: text('An address of which most is hidden, such as `a***@example.org`'),
      description: 'Some of the recipients',
    },
    note: text('What the count leaves out, in words for people'),
  }),
  TestSent: closed({
    id: uuid('The id of the test mail; `GET /v1/emails/:id` tells what became of it'),
    message: confirmation,
  }),
  BroadcastSending: closed({ id, status: status('sending'), recipientCount: recipients }),
  BroadcastScheduled: closed({
    id,
    status: status('scheduled'),
    scheduledAt: time('When it will be dispatched'),
    estimatedRecipients: count('How many recipients would get it now'),
  }),
  BroadcastDraft: closed({
    id,
    status: status('draft'),
    estimatedRecipients: count('How many recipients would get it now'),
  }),
  BroadcastPaused: closed({ id, status: status('paused'), message: confirmation }),
  BroadcastResumed: closed({ id, message: confirmation }),
  BroadcastCancelled: closed({ id, status: status('cancelled'), message: confirmation }),
  BroadcastStats: closed({
    recipients: count('How many mails were made so far'),
    delivered: count('How many mails the recipient’s server has taken'),
    bounced: count('How many mails it has refused for good'),
    opened: count('How many mails people opened'),
    clicked: count('In how many mails people clicked a link'),
    openRate: percent('`opened` in percent of the mails that servers or smart hosts have taken'),
    clickRate: percent('`clicked` in percent of the same'),
  }),
  Broadcast: closed(shown),
  Broadcasts: closed({
    broadcasts: { type: 'array', maxItems: 500, items: shaped('Broadcast') },
    ...pageFields,
  }),
  BroadcastDetail: closed({
    ...shown,
    from: text('The sender, as given'),
    ...given,
    tags: { type: 'array', items: shaped('Tag'), description: 'The tags of its mails' },
    warnings,
    progress: closed({
      waiting: count('How many mails have not ended'),
      relayed: count('How many a smart host has taken, which has told no more'),
      failed: count('How many were given up after the time for which mail is tried'),
      suppressed: count(
        'How many were not sent as the recipient had unsubscribed, bounced or complained since',
      ),
      cancelled: count('How many the operator has cancelled'),
      waitsForRoom: {
        type: 'boolean',
        description:
          'True: mails are still to be made, and the appliance has no room for more now, as its queue or its disk is full. It goes on by itself',
      },
    }),
    recipients: {
      type: 'array',
      maxItems: 1_000,
      description: 'The first 1,000 recipients',
      items: closed(recipient),
    },
  }),
  BroadcastRecipients: closed({
    recipients: {
      type: 'array',
      items: closed({ emailId: uuid('The id of the mail'), ...recipient }),
    },
    ...pageFields,
  }),
  MarketingUsage: closed(
    {
      plan: closed({
        id: uuid('The id of the plan, which stays the same when the plan is renamed'),
        name: text('The name of the plan, as people see it'),
        priceNaira: { type: 'number', minimum: 0, description: 'The price of a month in Naira' },
        maxMarketingContacts: count('How many contacts the plan allows'),
      }),
      subscribed: {
        type: 'boolean',
        description: 'Whether the account has the plan; if not, it is the smallest there is',
      },
      contacts: count('How many contacts the account has'),
      contactLimit: count('How many contacts it may have; 0 together with `unlimitedContacts`'),
      unlimitedContacts: {
        const: true,
        description: 'True when contacts have no limit, else absent',
      },
      monthlySendLimit: orNull(
        count('How many campaign mails a calendar month (UTC) allows; null: any number'),
      ),
      sentThisMonth: count('How many campaign mails of this month are used'),
      unlimitedSends: { type: 'boolean', description: 'Whether campaign mails have no limit' },
      periodEnd: time('When the count of campaign mails starts again'),
      paused: { type: 'boolean', description: 'True: no campaign mail leaves' },
      pausedReason: orNull(text('Why no campaign mail leaves; null when it does')),
    },
    ['unlimitedContacts'],
  ),
}
