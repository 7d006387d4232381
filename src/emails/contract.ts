import {
  answer,
  type Contract,
  confirmation,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
} from '../contract/index.js'
import { maybe, pathId, shaped, words } from '../fields/index.js'
import { emailShapes, exampleEmail, exampleSummary } from './contract-answers.js'
import { sendBatch, sendEmail, sendFromUssd } from './contract-sends.js'
import { maxLooked } from './list.js'
import { filterFields } from './list-query.js'

export { given, warnings } from './contract-answers.js'
export * from './contract-refusals.js'
export { unknownFields } from './send-body.js'
export * from './send-fields.js'
export { sendBatch, sendEmail, sendFromUssd }

// interface.md: 404 when the id does not exist for the account, and an id that is no UUID does not exist either.
const email = {
  params: { id: pathId('The UUID that the send was answered with') },
  about: { id: 'The UUID that the send was answered with' },
  notFound: 'The account has no email with this id',
  when: 'The account has no such email',
}

export const listEmails = operation('GET /v1/emails', {
  id: 'listEmails',
  may: 'inbox',
  // With a filter that rarely matches one request would read a whole log, so a page is bounded by the mails that it
  // reads, and the cursor goes on from there.
  query: {
    ...pageParams(),
    cursor: maybe(words('The `nextCursor` of the page before; the filters have to stay the same')),
    ...filterFields,
  },
  says: () => ({
    summary: 'List emails, newest first',
    description: `The mails that match all of the filters. A page looks at ${maxLooked} mails at most: it may have fewer than \`limit\`, or none, while \`hasMore\` says that there are more. A key of the scope \`test\` sees test mails alone, and of its domains where it is limited to some.`,
    answers: [
      answer(
        'A page',
        'EmailList',
        {
          emails: {
            ...manyOf('EmailSummary'),
            description:
              'Newest first; may be fewer than `limit`, or none, although there are more',
          },
          ...pageFields,
        },
        { emails: [exampleSummary], hasMore: true, nextCursor: 'AaH8kpkVdTOClgpb59HC8xVb7aI' },
      ),
    ],
    refusals: [
      refusal(
        'validation_error',
        'The cursor belongs to a list with other filters, or to no list',
        'The cursor does not belong to this list',
      ),
    ],
  }),
})

export const getEmail = operation('GET /v1/emails/:id', {
  id: 'getEmail',
  may: 'any',
  of: email,
  says: () => ({
    summary: 'What became of an email',
    description:
      'The mail as it was given, and of each recipient the status and the last reply word for word.',
    answers: [
      answer('The email', 'EmailFound', { email: shaped('Email') }, { email: exampleEmail }),
    ],
  }),
})

// DELETE and a verb in the path, as the contract has it: the mail stays readable, with the status `cancelled`.
export const cancelEmail = operation('DELETE /v1/emails/:id/cancel', {
  id: 'cancelEmail',
  may: 'sending',
  audit: 'email.cancel',
  of: email,
  says: () => ({
    summary: 'Cancel a scheduled email',
    description:
      'It no longer counts against the limits of the plan. Mail that has left cannot be recalled.',
    answers: [
      answer(
        'It is cancelled',
        'EmailCancelled',
        { message: confirmation },
        { message: 'Scheduled email cancelled' },
      ),
    ],
    refusals: [
      refusal(
        'validation_error',
        'It is not `scheduled` (any more)',
        'Only a scheduled email can be cancelled; this one is delivered',
      ),
    ],
  }),
})

export const emails: Contract = {
  tag: {
    name: 'Emails',
    description:
      'Single mails, batches and mails from USSD callbacks. A 200 means that the mail is on disk.',
  },
  operations: [sendEmail, sendBatch, sendFromUssd, listEmails, getEmail, cancelEmail],
  shapes: emailShapes,
}
