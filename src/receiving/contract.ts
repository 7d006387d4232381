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
} from '../contract/index.js'
import { maybe, oneOf, pathId, words } from '../fields/index.js'
import { exampleInFull, exampleOfMail, summary, wholeMail } from './contract-mail.js'
import {
  addReceivingRule,
  deleteReceivingRule,
  getReceivingRule,
  listReceivingRules,
  updateReceivingRule,
  whereWouldMailGo,
} from './contract-rules.js'
import { receivedExample, receivedInWebhook } from './contract-webhook.js'
import { receivedStates } from './shown.js'

export {
  addReceivingRule,
  deleteReceivingRule,
  getReceivingRule,
  listReceivingRules,
  receivedExample,
  receivedInWebhook,
  updateReceivingRule,
  whereWouldMailGo,
}

const mail = byId('mail', 'received mail')
export const listReceived = operation('GET /v1/received', {
  id: 'listReceived',
  may: 'read',
  query: {
    recipient: maybe(words('Only mail to this address')),
    from: maybe(words('Only with this in the From, in any case')),
    emailId: maybe(pathId('Only answers to this mail of yours')),
    ruleId: maybe(pathId('Only what this rule has decided about')),
    state: maybe(oneOf(receivedStates, 'Only mail in this state')),
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
    listReceived,
    getReceived,
    deleteReceived,
  ],
  shapes: () => ({ ReceivedSummary: closedOf(summary) }),
}
