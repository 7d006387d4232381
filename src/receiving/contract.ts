import {
  answer,
  byId,
  type Contract,
  closedOf,
  deletedFields,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
} from '../contract/index.js'
import { timeInQuery } from '../emails/index.js'
import { count, maybe, oneOf, pathId, queryWhole, text, words } from '../fields/index.js'
import { exampleInFull, exampleOfMail, file, summary, wholeMail } from './contract-mail.js'
import {
  addReceivingRule,
  deleteReceivingRule,
  getReceivingRule,
  listReceivingRules,
  updateReceivingRule,
  whereWouldMailGo,
} from './contract-rules.js'
import { getReceivingUsage } from './contract-usage.js'
import { receivedStates } from './shown.js'

export * from './contract-rules.js'
export * from './contract-usage.js'
export * from './contract-webhook.js'

const aboutFile = 'The number of the file, counted from 1'
const mail = byId('mail', 'received mail')
/** The filters of the list. */
export const receivedFilters = {
  recipient: maybe(words('Only mail to this address')),
  from: maybe(words('Only with this in the From, in any case')),
  emailId: maybe(pathId('Only answers to this mail of yours')),
  ruleId: maybe(pathId('Only what this rule has decided about')),
  state: maybe(oneOf(receivedStates, 'Only mail in this state')),
  receivedAfter: maybe(timeInQuery('Only mail that came in at this time or later')),
  receivedBefore: maybe(timeInQuery('Only mail that came in before this time')),
}

export const listReceived = operation('GET /v1/received', {
  id: 'listReceived',
  may: 'read',
  query: {
    ...receivedFilters,
    ...pageParams(),
  },
  says: () => ({
    summary: 'List the mail that came in, newest first',
    description:
      'A page may have fewer than it may where a filter fits few mails: go on while `hasMore` says so.',
    answers: [
      answer(
        'A page',
        'ReceivedMails',
        { received: manyOf('ReceivedSummary'), ...pageFields },
        { received: [exampleOfMail], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const getReceived = operation('GET /v1/received/:id', {
  id: 'getReceived',
  may: 'read',
  of: mail,
  says: () => ({
    summary: 'One mail that came in',
    description:
      'Everything in it is its sender’s: escape the text, and clean the HTML or show it in a frame without scripts.',
    answers: [answer('The mail', 'ReceivedMail', wholeMail, exampleInFull)],
  }),
})

export const getReceivedFile = operation('GET /v1/received/:id/attachments/:number', {
  id: 'getReceivedFile',
  may: 'read',
  of: {
    params: { ...mail.params, number: queryWhole(1, 1_000, aboutFile) },
    about: { ...mail.about, number: count(aboutFile, { minimum: 1 }) },
    notFound: 'The mail has no such file',
    when: 'The account has no such mail, or the mail no such file',
  },
  says: () => ({
    summary: 'A file of a mail that came in',
    description:
      'Whatever its sender has put in: its name and type are no promise. Have it looked at before anybody opens it.',
    answers: [
      answer(
        'The file',
        'ReceivedFile',
        {
          filename: file.filename,
          contentType: file.contentType,
          size: file.size,
          sha256: file.sha256,
          content: text('Its bytes in base64'),
        },
        {
          filename: 'bill.pdf',
          contentType: 'application/pdf',
          size: 4,
          sha256: 'f5d3a9b0d4f5f2a1c77d0c5e5b6a5c0d8f1b2c3d4e5f60718293a4b5c6d7e8f9',
          content: 'JVBERg==',
        },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'The mail came in a moment ago',
        'The mail is still being read: ask again in a moment',
      ),
    ],
  }),
})

export const getReceivedSource = operation('GET /v1/received/:id/raw', {
  id: 'getReceivedSource',
  may: 'read',
  of: mail,
  says: () => ({
    summary: 'The source of a mail that came in',
    description: 'As it came, byte for byte: its signatures hold over these bytes alone.',
    answers: [
      answer(
        'The source',
        'ReceivedSource',
        { id: summary.id, content: text('The message in base64') },
        { id: exampleOfMail.id, content: 'U3ViamVjdDogSGVsbG8NCg0KSGVsbG8NCg==' },
      ),
    ],
  }),
})

export const deleteReceived = operation('DELETE /v1/received/:id', {
  id: 'deleteReceived',
  may: 'full',
  audit: 'received.delete',
  of: mail,
  says: () => ({
    summary: 'Delete a mail that came in',
    answers: [
      answer('It was deleted', 'ReceivedDeleted', deletedFields, {
        id: exampleOfMail.id,
        deleted: true,
        message: 'Mail deleted, with its files',
      }),
    ],
  }),
})

export const receiving: Contract = {
  tag: {
    name: 'Receiving',
    description:
      'Mail that comes in at your domains: rules that say where it goes, and what has come. Switch it on by the `receivingHost` of a domain.',
  },
  operations: [
    listReceivingRules,
    addReceivingRule,
    getReceivingRule,
    updateReceivingRule,
    deleteReceivingRule,
    whereWouldMailGo,
    getReceivingUsage,
    listReceived,
    getReceived,
    getReceivedFile,
    getReceivedSource,
    deleteReceived,
  ],
  shapes: () => ({ ReceivedSummary: closedOf(summary) }),
}
