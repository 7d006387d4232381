import { inexactNumber, pageQuery, refusal } from '../contract/index.js'
import { emailStatuses, maxBatch, maxLooked } from '../emails/index.js'
import { text, time, uuid } from '../fields/index.js'
import type { Description } from './description.js'
import {
  attachmentRefusals,
  badTime,
  batchQuotaRefusals,
  foreignFields,
  invalidItems,
  marketingCopies,
  marketingRefusals,
  quotaRefusals,
  refusedHeader,
  senderRefusals,
  sendingRefusals,
  templateRefusals,
  tooManyRecipients,
} from './email-refusals.js'
import { emailSchemas } from './email-schemas.js'

const id = '01a1fc92-9915-7533-8296-04ee3d91dd72'
/**
 * The mail that all examples are about: who copies the send can go on with the answer of the read.
 */
const order = {
  from: 'Shop <orders@example.com>',
  to: 'ann@example.org',
  subject: 'Your order 4711',
  html: '<p>Thank you, Ann!</p>',
}
/** As the list shows it; the read adds its recipients and content. */
const summary = {
  id,
  from: order.from,
  to: order.to,
  cc: [],
  bcc: ['archive@example.com'],
  subject: order.subject,
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
  messageId: `<${id}@example.com>`,
  provider: 'primary',
}
const params = { id: 'The UUID that the send was answered with' }
/**
 * interface.md: 404 when the id does not exist for the account, and an id that is no UUID does not
 * exist either.
 */
const noSuchEmail = refusal(
  'not_found',
  'The account has no such email',
  'The account has no email with this id',
)

export const emails: Description = {
  tag: {
    name: 'Emails',
    description:
      'Single mails, batches and mails from USSD callbacks. A 200 means that the mail is on disk.',
  },
  schemas: emailSchemas,
  operations: {
    'POST /v1/emails/send': {
      id: 'sendEmail',
      summary: 'Send an email',
      body: {
        shape: 'Send',
        examples: [
          { when: 'To one recipient', value: order },
          {
            when: 'With everything',
            value: {
              ...order,
              to: ['Ann <ann@example.org>', 'bob@example.net'],
              text: 'Thank you, Ann!',
              cc: 'Cleo <cleo@example.org>',
              bcc: ['archive@example.com'],
              replyTo: ['help@example.com', 'Orders <orders@example.com>'],
              headers: { 'X-Entity-Ref-ID': '4711', 'In-Reply-To': '<4710@example.com>' },
              tags: [{ name: 'kind', value: 'receipt' }],
              metadata: { order: 4711 },
            },
          },
          {
            when: 'With a file, and a picture in the HTML',
            value: {
              ...order,
              html: '<p>Thank you, Ann! <img src="cid:logo" alt=""></p>',
              attachments: [
                { filename: 'invoice.txt', content: 'T3JkZXIgNDcxMTogMTIgRVVSCg==' },
                {
                  filename: 'logo.gif',
                  content: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
                  contentId: 'logo',
                },
              ],
            },
          },
          { when: 'Later', value: { ...order, scheduledAt: '2026-12-24T18:00:00Z' } },
          {
            when: 'From a template',
            value: {
              from: order.from,
              to: order.to,
              template: 'welcome',
              variables: { name: 'Ann' },
            },
          },
          {
            when: 'Marketing, on a topic',
            value: {
              ...order,
              subject: 'This week only',
              type: 'marketing',
              topicId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
            },
          },
        ],
      },
      answers: [
        {
          status: 200,
          when: 'It is queued',
          shape: 'EmailQueued',
          value: { id, message: 'Email queued' },
        },
        {
          status: 200,
          when: 'It is scheduled',
          shape: 'EmailScheduled',
          value: {
            id,
            status: 'scheduled',
            scheduledAt: '2026-12-24T18:00:00.000Z',
            message: 'Email scheduled',
          },
        },
      ],
      refusals: [
        ...senderRefusals,
        tooManyRecipients,
        badTime,
        ...quotaRefusals,
        ...marketingRefusals,
        ...templateRefusals,
        inexactNumber('metadata.order'),
        refusedHeader,
        marketingCopies,
        foreignFields,
        ...attachmentRefusals,
        ...sendingRefusals,
      ],
    },

    'POST /v1/emails/batch': {
      id: 'sendBatch',
      summary: `Send up to ${maxBatch} emails`,
      description:
        'All or nothing: every mail is checked, and the caps for all of them together, before any is queued.',
      body: {
        shape: 'Batch',
        examples: [
          {
            when: 'Two mails',
            value: {
              emails: [order, { ...order, to: 'bob@example.net', subject: 'Your order 4712' }],
            },
          },
          {
            when: 'With a file that both carry',
            value: {
              emails: [order, { ...order, to: 'bob@example.net' }],
              attachments: [{ filename: 'terms.txt', content: 'VGhlIHRlcm1zCg==' }],
            },
          },
        ],
      },
      answers: [
        {
          status: 200,
          when: 'All are queued',
          shape: 'BatchQueued',
          value: { queued: 2, ids: [id, '01a1fc92-9915-7533-8296-0a5be7d1c2f3'] },
        },
      ],
      // What is wrong with a single mail (sender, recipients, template) is in `InvalidItems`, by its place in the batch.
      refusals: [
        invalidItems,
        foreignFields,
        ...attachmentRefusals,
        ...batchQuotaRefusals,
        ...sendingRefusals,
      ],
    },

    'POST /v1/emails/ussd': {
      id: 'sendFromUssd',
      summary: 'Send an email that a USSD callback asks for',
      description: 'A transactional mail, to an address or to the contact with a phone number.',
      body: {
        shape: 'Ussd',
        examples: [
          {
            when: 'By phone number',
            value: {
              from: 'Bank <alerts@example.com>',
              phoneNumber: '08031234567',
              subject: 'Your balance',
              html: '<p>₦12,000</p>',
              metadata: { ussd: { sessionId: 'ATUid_1' } },
            },
          },
        ],
      },
      answers: [
        {
          status: 200,
          when: 'It is queued',
          shape: 'UssdQueued',
          value: { queued: true, ref: id },
        },
      ],
      refusals: [
        inexactNumber('metadata.order'),
        ...senderRefusals,
        refusal('not_found', 'No contact has the phone number', 'No contact has this phone number'),
        foreignFields,
        ...quotaRefusals,
        ...sendingRefusals,
      ],
    },

    'GET /v1/emails': {
      id: 'listEmails',
      summary: 'List emails, newest first',
      description: `The mails that match all of the filters. A page looks at ${maxLooked} mails at most: it may have fewer than \`limit\`, or none, while \`hasMore\` says that there are more.`,
      // Filters that rarely match would have one request read a whole log: a page is bounded by what it looks at, and the
      // cursor goes on from there.
      query: {
        ...pageQuery,
        cursor: text('The `nextCursor` of the page before; the filters have to stay the same'),
        status: text(
          `Only mails with this status, or one of several joined by commas: ${emailStatuses.join(', ')}`,
          {
            examples: ['bounced,failed'],
          },
        ),
        to: text('Only mails with this address in `to`, `cc` or `bcc`'),
        from: text('Only mails from this address'),
        domain: text('Only mails from this sender domain'),
        type: {
          type: 'string',
          enum: ['transactional', 'marketing'],
          description: 'Only mails of this type',
        },
        topicId: uuid('Only marketing mails on this topic'),
        broadcastId: uuid('Only mails of this campaign'),
        template: text('Only mails made from the template with this slug'),
        tag: text('Only mails with this tag: `name:value`', { examples: ['kind:receipt'] }),
        messageId: text('Only the mail with this Message-ID', {
          examples: [`<${id}@example.com>`],
        }),
        automationId: uuid('Only mails of this automation'),
        step: text('Only mails of the step with this key; needs `automationId`'),
        createdAfter: time('Only mails that were accepted at this time or later'),
        createdBefore: time('Only mails that were accepted before this time'),
      },
      answers: [
        {
          status: 200,
          when: 'A page',
          shape: 'EmailList',
          value: { emails: [summary], hasMore: true, nextCursor: 'AaH8kpkVdTOClgpb59HC8xVb7aI' },
        },
      ],
      refusals: [
        refusal(
          'validation_error',
          'The cursor belongs to a list with other filters, or to no list',
          'The cursor does not belong to this list',
        ),
      ],
    },

    'GET /v1/emails/:id': {
      id: 'getEmail',
      summary: 'What became of an email',
      description:
        'The mail as it was given, and of each recipient the status and the last reply word for word.',
      params,
      answers: [
        {
          status: 200,
          when: 'The email',
          shape: 'EmailFound',
          value: {
            email: {
              ...summary,
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
            },
          },
        },
      ],
      refusals: [noSuchEmail],
    },

    // DELETE and a verb in the path, as the contract has it: the mail stays readable, with the status `cancelled`.
    'DELETE /v1/emails/:id/cancel': {
      id: 'cancelEmail',
      summary: 'Cancel a scheduled email',
      description:
        'It no longer counts against the limits of the plan. Mail that has left cannot be recalled.',
      params,
      answers: [
        {
          status: 200,
          when: 'It is cancelled',
          shape: 'EmailCancelled',
          value: { message: 'Scheduled email cancelled' },
        },
      ],
      refusals: [
        refusal(
          'validation_error',
          'It is not `scheduled` (any more)',
          'Only a scheduled email can be cancelled; this one is delivered',
        ),
        noSuchEmail,
      ],
    },
  },
}
