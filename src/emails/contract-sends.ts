import {
  answer,
  confirmation,
  inexactNumber,
  operation,
  refusal,
  shape,
} from '../contract/index.js'
import { count, time, uuid } from '../fields/index.js'
import { exampleId as id, exampleSend as order } from './contract-answers.js'
import {
  attachmentRefusals,
  badTime,
  batchQuotaRefusals,
  foreignFields,
  invalidItems,
  marketingCopies,
  marketingRefusals,
  neverFits,
  quotaRefusals,
  refusedHeader,
  senderRefusals,
  sendingRefusals,
  templateRefusals,
  tooManyRecipients,
} from './contract-refusals.js'
import { batchBody, maxBatch, sendBody, ussdBody } from './send-body.js'

/*
 * The operations that take mail in. A mail has a log of its own, so none of them is in the audit
 * log.
 */
const emailId = uuid('The id of the email')

export const sendEmail = operation('POST /v1/emails/send', {
  id: 'sendEmail',
  may: 'sending',
  body: shape('Send', sendBody),
  says: () => ({
    summary: 'Send an email',
    examples: {
      'To one recipient': order,
      'With everything': {
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
      'With a file, and a picture in the HTML': {
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
      Later: { ...order, scheduledAt: '2026-12-24T18:00:00Z' },
      'From a template': {
        from: order.from,
        to: order.to,
        template: 'welcome',
        variables: { name: 'Ann' },
      },
      'Marketing, on a topic': {
        ...order,
        subject: 'This week only',
        type: 'marketing',
        topicId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
      },
    },
    answers: [
      answer(
        'It is queued',
        'EmailQueued',
        { id: emailId, message: confirmation },
        { id, message: 'Email queued' },
      ),
      answer(
        'It is scheduled',
        'EmailScheduled',
        {
          id: emailId,
          status: { const: 'scheduled' },
          scheduledAt: time('When it will leave, in UTC'),
          message: confirmation,
        },
        {
          id,
          status: 'scheduled',
          scheduledAt: '2026-12-24T18:00:00.000Z',
          message: 'Email scheduled',
        },
      ),
    ],
    refusals: [
      ...senderRefusals,
      tooManyRecipients,
      badTime,
      ...quotaRefusals,
      neverFits,
      ...marketingRefusals,
      ...templateRefusals,
      inexactNumber('metadata.order'),
      refusedHeader,
      marketingCopies,
      foreignFields,
      ...attachmentRefusals,
      ...sendingRefusals,
    ],
  }),
})

export const sendBatch = operation('POST /v1/emails/batch', {
  id: 'sendBatch',
  may: 'sending',
  body: shape('Batch', batchBody),
  says: () => ({
    summary: `Send up to ${maxBatch} emails`,
    description:
      'All or nothing: every mail is checked, and the caps for all of them together, before any is queued.',
    examples: {
      'Two mails': {
        emails: [order, { ...order, to: 'bob@example.net', subject: 'Your order 4712' }],
      },
      'With a file that both carry': {
        emails: [order, { ...order, to: 'bob@example.net' }],
        attachments: [{ filename: 'terms.txt', content: 'VGhlIHRlcm1zCg==' }],
      },
    },
    answers: [
      answer(
        'All are queued',
        'BatchQueued',
        {
          queued: count('How many mails were queued'),
          ids: {
            type: 'array',
            items: { type: 'string', format: 'uuid' },
            description: 'The ids of the mails, in the order of `emails`',
          },
        },
        { queued: 2, ids: [id, '01a1fc92-9915-7533-8296-0a5be7d1c2f3'] },
      ),
    ],
    // What is wrong with a single mail (sender, recipients, template) is in `InvalidItems`, by its place in the batch.
    refusals: [
      invalidItems,
      foreignFields,
      ...attachmentRefusals,
      ...batchQuotaRefusals,
      ...sendingRefusals,
    ],
  }),
})

export const sendFromUssd = operation('POST /v1/emails/ussd', {
  id: 'sendFromUssd',
  may: 'sending',
  body: shape('Ussd', ussdBody),
  says: () => ({
    summary: 'Send an email that a USSD callback asks for',
    description: 'A transactional mail, to an address or to the contact with a phone number.',
    examples: {
      'By phone number': {
        from: 'Bank <alerts@example.com>',
        phoneNumber: '08031234567',
        subject: 'Your balance',
        html: '<p>₦12,000</p>',
        metadata: { ussd: { sessionId: 'ATUid_1' } },
      },
    },
    answers: [
      answer(
        'It is queued',
        'UssdQueued',
        { queued: { const: true }, ref: emailId },
        { queued: true, ref: id },
      ),
    ],
    refusals: [
      inexactNumber('metadata.order'),
      ...senderRefusals,
      refusal('not_found', 'No contact has the phone number', 'No contact has this phone number'),
      foreignFields,
      ...quotaRefusals,
      ...sendingRefusals,
    ],
  }),
})
