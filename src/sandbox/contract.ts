import {
  answer,
  type Contract,
  closedOf,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
} from '../contract/index.js'
import {
  count,
  maybe,
  orNull,
  pathId,
  queryWhole,
  shaped,
  text,
  time,
  uuid,
  words,
} from '../fields/index.js'

const about = 'The id of the message, as the list has it'
const message = {
  params: { id: queryWhole(1, Number.MAX_SAFE_INTEGER, about) },
  about: { id: count(about, { minimum: 1 }) },
  notFound: 'The test inbox has no message with this id',
  when: 'The test inbox has no such message (any more)',
}

const verdict = (about: string) =>
  text(`${about}, as a receiver would find it if your records are published (RFC 8601)`, {
    examples: ['pass'],
  })
const summary = {
  id: count('The id of the message; later ones have larger ids'),
  emailId: orNull(uuid('The id of the mail that it is a copy of')),
  from: text('The From of its header'),
  to: {
    type: 'array',
    items: text('An address'),
    description: 'To whom this copy would have gone',
  },
  subject: text('The subject, decoded'),
  receivedAt: time('When it was put into the inbox'),
  sizeBytes: count('How large it is'),
  checks: orNull(closedOf({ dkim: verdict('DKIM'), spf: verdict('SPF'), dmarc: verdict('DMARC') })),
}
const whole = {
  ...summary,
  headers: manyOf({ name: text('The name'), value: text('The value, decoded') }),
  text: orNull(text('The text; null: it has none')),
  html: orNull(text('The HTML; null: it has none')),
  links: {
    type: 'array',
    items: text('An address'),
    description: 'Where its HTML leads, and then what its text alone has; each once',
  },
  attachments: manyOf({
    filename: text('The name of the file'),
    contentType: text('The type of the file'),
    size: count('How many bytes it has'),
  }),
}
const example = {
  id: 8_126_464_123_904,
  emailId: '01a1fc92-9915-8533-8296-04ee3d91dd72',
  from: 'Shop <orders@example.com>',
  to: ['ann@example.org'],
  subject: 'Confirm your address',
  receivedAt: '2026-11-21T12:00:00.120Z',
  sizeBytes: 2_412,
  checks: { dkim: 'pass', spf: 'pass', dmarc: 'pass' },
}

export const listTestMails = operation('GET /v1/inbox', {
  id: 'listTestMails',
  may: 'inbox',
  query: {
    to: maybe(words('Only copies to this address')),
    subject: maybe(words('Only with this in the subject, in any case')),
    emailId: maybe(pathId('Only copies of this mail')),
    ...pageParams(),
  },
  says: () => ({
    summary: 'List the test inbox, newest first',
    description:
      'What keys of the scope `test` have sent: a copy for each recipient, as it would have left. Tests of your program ask here whether a mail was sent, and what is in it. A key that is limited to domains sees what was sent from these alone.',
    answers: [
      answer(
        'A page',
        'TestMails',
        { messages: manyOf('TestMailSummary'), ...pageFields },
        { messages: [example], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const getTestMail = operation('GET /v1/inbox/:id', {
  id: 'getTestMail',
  may: 'inbox',
  of: message,
  says: () => ({
    summary: 'A message of the test inbox',
    answers: [
      answer(
        'The message',
        'TestMailFound',
        { message: shaped('TestMail') },
        {
          message: {
            ...example,
            headers: [{ name: 'Subject', value: 'Confirm your address' }],
            text: 'https://app.example.com/confirm?token=7',
            html: '<p><a href="https://app.example.com/confirm?token=7">Confirm</a></p>',
            links: ['https://app.example.com/confirm?token=7'],
            attachments: [],
          },
        },
      ),
    ],
  }),
})

export const clearTestMails = operation('DELETE /v1/inbox', {
  id: 'clearTestMails',
  may: 'clear',
  audit: 'inbox.clear',
  says: () => ({
    summary: 'Empty the test inbox',
    description:
      'What comes meanwhile stays. The mails themselves stay in the log. A key that is limited to domains deletes what was sent from these alone.',
    answers: [
      answer(
        'It was emptied',
        'TestMailsCleared',
        { cleared: count('How many messages were deleted') },
        { cleared: 3 },
      ),
    ],
  }),
})

export const testInbox: Contract = {
  tag: {
    name: 'Test inbox',
    description:
      'Where the mail of keys of the scope `test` ends, which never reaches anybody. It passes all that other mail does: plans and their caps (counted apart), suppressions, templates, idempotency, webhooks (with `test: true`). No suppression, rate, figure or warm-up follows from it. Recipients at `simulator.posthorn.test` bounce and complain for test keys too.',
  },
  operations: [listTestMails, getTestMail, clearTestMails],
  shapes: () => ({ TestMailSummary: closedOf(summary), TestMail: closedOf(whole) }),
}
