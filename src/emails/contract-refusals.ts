import { accountRefusals, type RefusalExample, refusal, storageFull } from '../contract/index.js'
import { count, text, time } from '../fields/index.js'
import { maxRecipients } from './send-fields.js'

/*
 * Why mail is not taken, in the groups in which endpoints share it.
 */
const verified = {
  type: 'array',
  items: { type: 'string' },
  description: 'The domains from which the account may send',
}
const canSend = { canSend: count('How many mails of the batch could be sent now') }
const plan = text("The name of the account's plan")

/**
 * interface.md, 400 domain-level: `domain` is empty if `from` has no address, and a name if that
 * domain is not verified. Clients tell the two apart by this.
 */
export const senderRefusals: RefusalExample[] = [
  refusal(
    'validation_error',
    '`from` is not a sender',
    'from is not a sender: expected "email@domain" or "Name <email@domain>"',
    {
      shape: 'InvalidSender',
      fields: { domain: { const: '', description: 'Empty: no domain was found in `from`' } },
      example: { domain: '' },
    },
  ),
  refusal(
    'domain_not_verified',
    'The domain of `from` is not verified',
    'The sending domain news.example.com is not verified for this account',
    {
      fields: { domain: text('The domain of `from`'), verifiedDomains: verified },
      example: { domain: 'news.example.com', verifiedDomains: ['example.com'] },
    },
  ),
]

/**
 * `count` is the number given and `max` the bound (interface.md, Limits); all of to, cc and bcc
 * count.
 */
export const tooManyRecipients = refusal(
  'validation_error',
  'Too many recipients',
  `Too many recipients: 64 given, at most ${maxRecipients} allowed`,
  {
    shape: 'TooManyRecipients',
    fields: { count: count('How many were given'), max: count('How many may be given') },
    example: { count: 64, max: maxRecipients },
  },
)

const pastTime = 'scheduledAt is in the past: expected a future time'

/** 400 without further fields, as the contract has it. */
export const badTime = refusal(
  'validation_error',
  '`scheduledAt` is not a time, or in the past, or more than 90 days ahead',
  pastTime,
)

/** Campaigns may be scheduled for any time to come. */
export const badCampaignTime = refusal(
  'validation_error',
  '`scheduledAt` is not a time, or in the past',
  pastTime,
)

/**
 * Unknown fields are ignored everywhere, but with another API's `reply_to` the replies would go
 * astray: those few are refused, with the right spelling.
 */
export const foreignFields = refusal(
  'validation_error',
  'Fields of ours in another spelling: `reply_to` (write `replyTo`), `scheduled_at` or `send_at` (write `scheduledAt`), `topic_id`; or fields of a send that this endpoint does not have',
  'This field is not supported: reply_to; write replyTo in place of reply_to. Nothing was sent',
  { status: 422 },
)

/**
 * A header that Posthorn or a server on the way writes may occur only once (RFC 5322 §3.6), so a
 * second one cannot be set.
 */
export const refusedHeader = refusal(
  'validation_error',
  'A header that cannot be set',
  'The header "Subject" cannot be set: use the field "subject" of the request',
  { status: 422 },
)

/**
 * A copy would carry the unsubscribe link of somebody else (RFC 8058): whoever gets the copy could
 * unsubscribe the recipient.
 */
export const marketingCopies = refusal(
  'validation_error',
  '`cc` or `bcc` on marketing mail',
  'cc and bcc are only for mail of type "transactional": every recipient of marketing mail has an unsubscribe link of their own. Put all recipients into to, or send each of them a mail',
  { status: 422 },
)

/** 422 and not 400: the body is well formed, but its contents cannot be sent. */
export const attachmentRefusals: RefusalExample[] = [
  refusal(
    'validation_error',
    'An attachment is wrong: its name, type or base64, a field in the spelling of another mail API; its file cannot be fetched; or all of them are too large',
    'attachments[0]: write contentType in place of content_type. Nothing was sent',
    { status: 422 },
  ),
  storageFull,
]

/** What may be wrong with the account, the queue or the disk. */
export const sendingRefusals: RefusalExample[] = [
  ...accountRefusals,
  refusal(
    'service_unavailable',
    'The queue or the disk is full, or the disk cannot be written',
    'The queue is full; try again later',
  ),
  refusal(
    'account_paused',
    'Too many mails bounced, or too many recipients complained',
    'All sending is paused because of bounces. The operator has to clear it',
    {
      status: 503,
      shape: 'SendingPaused',
      fields: { reason: { type: 'string', enum: ['bounce', 'complaint'] } },
      example: { reason: 'bounce' },
    },
  ),
]

/**
 * Only if `type` is `marketing`; transactional mail goes on in all of these states (interface.md).
 */
export const marketingRefusals: RefusalExample[] = [
  refusal(
    'marketing_subscription_required',
    'Marketing mail without a marketing plan',
    'Marketing mail needs a marketing plan',
    { fields: { upgrade: { const: 'marketing' } }, example: { upgrade: 'marketing' } },
  ),
  refusal(
    'account_paused',
    'Only marketing is paused',
    'Marketing is paused because of complaints. The operator has to clear it',
  ),
]

const ofLimit = {
  limit: count('How many mails may be handed in within that time'),
  per: { type: 'string', enum: ['hour', 'minute'], description: 'Within which time' },
  of: { type: 'string', enum: ['plan', 'key'], description: 'Whose limit it is' },
} as const

const rateFields = {
  ...ofLimit,
  used: count('How many of them are used'),
  resetsAt: time('When the count starts again; `Retry-After` has the seconds until then'),
}

const rateExample = {
  limit: 500,
  used: 500,
  per: 'hour',
  of: 'key',
  resetsAt: '2026-11-21T13:00:00.000Z',
}

/** Of more than one recipient. 422 and not 429: to wait would not help. */
export const neverFits = refusal(
  'validation_error',
  'More mails at once than the plan or the key may hand in within an hour or a minute',
  'These are 600 mails at once, and this key may hand in 500 within an hour: hand in fewer at once',
  {
    status: 422,
    shape: 'TooManyAtOnce',
    fields: ofLimit,
    example: { limit: 500, per: 'hour', of: 'key' },
  },
)

/**
 * The limits of an hour and a minute. A refusal without these fields is the limit of requests, which every route
 * has.
 */
const rateRefusal = refusal(
  'rate_limit_exceeded',
  "The mails of this hour or minute are used up, those of the plan or the key's own",
  '500 of the 500 mails that this key may hand in within an hour are used; the count starts again at 2026-11-21T13:00:00.000Z',
  {
    shape: 'MailRateExceeded',
    fields: rateFields,
    example: rateExample,
  },
)

/** The caps for a single mail. */
export const quotaRefusals: RefusalExample[] = [
  rateRefusal,
  refusal(
    'monthly_quota_exceeded',
    "The month's mails are used up",
    '3000 of the 3000 mails of this month are used; the count starts again on the 1st of the month, UTC',
    {
      fields: {
        limit: count('How many mails the plan allows in a month'),
        used: count('How many of them are used'),
        plan,
      },
      example: { limit: 3_000, used: 3_000, plan: 'Free' },
    },
  ),
  refusal(
    'daily_quota_exceeded',
    "The day's mails are used up",
    '100 of the 100 mails of today are used; the count starts again at midnight UTC',
    {
      fields: {
        dailyLimit: count('How many mails the plan allows in a day'),
        dailySent: count('How many of them are used'),
        resetsAt: time('When the count starts again: the next midnight, UTC'),
        plan,
      },
      example: {
        dailyLimit: 100,
        dailySent: 100,
        resetsAt: '2026-11-22T00:00:00.000Z',
        plan: 'Free',
      },
    },
  ),
]

/** The caps for a batch: all its mails are counted together before any of them is queued. */
export const batchQuotaRefusals: RefusalExample[] = [
  refusal(
    'rate_limit_exceeded',
    'The mails of this hour or minute do not suffice',
    'The batch has 20 mails (one for each recipient), and 5 can be sent now. 495 of the 500 mails that this key may hand in within an hour are used; the count starts again at 2026-11-21T13:00:00.000Z',
    {
      shape: 'MailRateOfBatch',
      fields: { ...rateFields, ...canSend },
      example: { ...rateExample, used: 495, canSend: 5 },
    },
  ),
  neverFits,
  refusal(
    'monthly_quota_exceeded',
    "The month's mails do not suffice",
    'The batch has 20 mails (one for each recipient), and 5 can be sent now. 2995 of the 3000 mails of this month are used; the count starts again on the 1st of the month, UTC',
    { shape: 'MonthlyQuotaOfBatch', fields: canSend, example: { canSend: 5 } },
  ),
  refusal(
    'daily_quota_exceeded',
    "The day's mails do not suffice",
    'The batch has 20 mails (one for each recipient), and 10 can be sent now. 90 of the 100 mails of today are used; the count starts again at midnight UTC',
    { shape: 'DailyQuotaOfBatch', fields: canSend, example: { canSend: 10 } },
  ),
]

/**
 * 404 for a slug that does not exist and 422 for one that cannot be filled in, as the contract
 * tells them apart.
 */
export const templateRefusals: RefusalExample[] = [
  refusal(
    'not_found',
    'The account has no template with this slug',
    'The account has no template "welcome"',
  ),
  refusal(
    'not_found',
    'The account has no topic with this id',
    'The account has no topic with this id',
  ),
  refusal(
    'conflict',
    'The topic is archived',
    'The topic "Offers" is archived; restore it to send on it',
  ),
  refusal(
    'validation_error',
    'The template cannot be filled in',
    'Template "welcome" cannot be rendered: the variable "name" is missing (html, line 1, column 7)',
    { status: 422 },
  ),
  refusal(
    'validation_error',
    'Both or neither of `html` and `template`',
    'Exactly one of html and template must be given',
    { status: 422 },
  ),
  refusal(
    'validation_error',
    '`topicId` on a transactional mail',
    'topicId is only for mail of type "marketing"',
    { status: 422 },
  ),
]

/**
 * The other 422 has no `errors`, by which clients tell the two apart (interface.md, Body shapes by
 * status). Every wrong mail is named, not only the first.
 */
export const invalidItems = refusal(
  'validation_error',
  'Mails of the batch are invalid',
  '2 of 10 emails are invalid; nothing was queued',
  {
    status: 422,
    shape: 'InvalidItems',
    fields: {
      errors: {
        type: 'array',
        minItems: 1,
        description: 'Every mail that is wrong',
        items: {
          type: 'object',
          properties: {
            index: count('Its place in `emails`, from 0'),
            error: text('Everything that is wrong with it, beginning with its fields'),
          },
          required: ['index', 'error'],
          additionalProperties: false,
        },
      },
    },
    example: {
      errors: [
        {
          index: 1,
          error:
            'to: Required. Expected an address; subject: Required. Expected a string, because html is given',
        },
        { index: 7, error: 'The sending domain news.example.com is not verified for this account' },
      ],
    },
  },
)
