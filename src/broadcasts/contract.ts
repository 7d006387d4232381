import {
  accountRefusals,
  answer,
  type Contract,
  confirmation,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
} from '../contract/index.js'
import { quotaRefusals } from '../emails/contract.js'
import { closed, count, text, uuid } from '../fields/index.js'
import {
  broadcastShapes,
  detail,
  exampleAudience,
  exampleCampaign,
  exampleDetail,
  exampleDraft,
  exampleId,
  exampleItem,
  exampleListId,
  usage,
} from './contract-answers.js'
import {
  campaign,
  cancelBroadcast,
  cancelRestOfBroadcast,
  chooseBroadcastVariant,
  duplicateBroadcast,
  isDraft,
  isScheduled,
  isSending,
  pauseBroadcast,
  resumeBroadcast,
  sendBroadcast,
  takeBackBroadcast,
} from './contract-course.js'
import {
  BroadcastAudience,
  BroadcastChanges,
  NewBroadcast,
  TestBroadcast,
} from './contract-fields.js'
import { listBroadcastRecipients } from './contract-recipients.js'
import { archived, capReached, contentRefusals, nobody, noSuchList } from './contract-refusals.js'
import { rehearseBroadcast } from './contract-rehearsal.js'
import { getBroadcastReport, reportShapes } from './contract-report.js'

export * from './contract-course.js'
export { BroadcastChanges as draftChanges } from './contract-fields.js'
export * from './contract-recipients.js'
export * from './contract-rehearsal.js'
export * from './contract-report.js'

export const previewBroadcast = operation('POST /v1/broadcasts/preview', {
  id: 'previewBroadcast',
  may: 'read',
  body: BroadcastAudience,
  says: () => ({
    summary: 'Whom a campaign would reach',
    examples: {
      'A list': { listId: exampleListId },
      'Lists and segments': { audience: exampleAudience },
    },
    answers: [
      // Masked addresses show that it is the right list, and nobody can export a list by looking at a campaign.
      answer(
        'As it stands now',
        'BroadcastPreview',
        {
          recipientCount: count('How many recipients would get it now'),
          fit: count('How many contacts the audience has'),
          notMailed: closed({
            unsubscribed: count('How many of them have unsubscribed'),
            bounced: count('How many addresses have bounced'),
            complained: count('How many have complained'),
            suppressed: count('How many are suppressed by hand, or erased and added again'),
            leftTopic: count('How many have left the topic'),
          }),
          sample: {
            type: 'array',
            maxItems: 5,
            items: text('An address of which most is hidden, such as `a***@example.org`'),
            description: 'Some of the recipients',
          },
          note: text('What the count leaves out, in words for people'),
        },
        {
          recipientCount: 1_200,
          fit: 1_240,
          notMailed: { unsubscribed: 30, bounced: 8, complained: 1, suppressed: 0, leftTopic: 1 },
          sample: ['a***@example.org', 'b***@example.net'],
          note: 'Who has unsubscribed is not counted.',
        },
      ),
    ],
    refusals: [noSuchList, archived, ...accountRefusals],
  }),
})

export const testBroadcast = operation('POST /v1/broadcasts/test', {
  id: 'testBroadcast',
  may: 'full',
  audit: 'broadcast.test',
  body: TestBroadcast,
  says: () => ({
    summary: 'Send a campaign to yourself',
    description:
      'The mail that recipients would get, with the data of the contact `as`, or of `to` if it is one. At most 20 in any 60 minutes. It counts as a single mail of the email plan, and in no campaign’s figures.',
    examples: { 'To a mailbox': { ...exampleCampaign, to: 'me@example.com' } },
    answers: [
      answer(
        'It is queued',
        'TestSent',
        {
          id: uuid('The id of the test mail; `GET /v1/emails/:id` tells what became of it'),
          message: confirmation,
        },
        { id: exampleId, message: 'Test campaign sent' },
      ),
    ],
    refusals: [
      // A test goes to the given address, not to a list: if any address were allowed it could mail strangers.
      refusal(
        'forbidden',
        '`to` is neither a team member’s nor on one of the account’s domains',
        'A test can only be sent to a mailbox of your own: set "to" to the address of an active team member, or to one on a verified domain of the account',
      ),
      refusal(
        'rate_limit_exceeded',
        'Too many tests within an hour',
        '20 tests were sent within the last hour; try again later',
      ),
      ...quotaRefusals,
      ...contentRefusals,
    ],
  }),
})

export const createBroadcast = operation('POST /v1/broadcasts', {
  id: 'createBroadcast',
  may: 'full',
  audit: 'broadcast.create',
  body: NewBroadcast,
  says: () => ({
    summary: 'Make a campaign',
    description:
      'Without `scheduledAt` it is dispatched at once. The audience is looked at again at dispatch, and every recipient once more when their mail leaves.',
    examples: {
      'At once': exampleCampaign,
      'Later, on a topic': {
        ...exampleCampaign,
        name: 'Christmas',
        topicId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
        scheduledAt: '2026-12-24T18:00:00Z',
      },
      'To lists and segments': {
        from: exampleCampaign.from,
        subject: exampleCampaign.subject,
        html: exampleCampaign.html,
        previewText: 'What is new, in one minute',
        audience: exampleAudience,
      },
      'As a draft': { ...exampleCampaign, draft: true },
    },
    answers: [isSending(), isScheduled(), isDraft()],
    refusals: [nobody, capReached, ...contentRefusals],
  }),
})

export const listBroadcasts = operation('GET /v1/broadcasts', {
  id: 'listBroadcasts',
  may: 'read',
  query: pageParams(),
  says: () => ({
    summary: 'List the campaigns',
    answers: [
      answer(
        'Newest first',
        'Broadcasts',
        { broadcasts: manyOf('Broadcast', 500), ...pageFields },
        { broadcasts: [exampleItem], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

// The contract's path. `plan` is no UUID, so it cannot be taken for a campaign.
export const getMarketingUsage = operation('GET /v1/broadcasts/plan/usage', {
  id: 'getMarketingUsage',
  may: 'read',
  says: () => ({
    summary: 'The marketing plan, and what is used of it',
    answers: [
      {
        status: 200,
        when: 'As it stands now',
        shape: 'MarketingUsage',
        schema: usage(),
        value: {
          plan: {
            id: '5c0c3a8e-3f0b-4b55-9d5e-0b1c7a3f1b01',
            name: 'Marketing Free',
            priceNaira: 0,
            maxMarketingContacts: 500,
          },
          subscribed: true,
          contacts: 480,
          contactLimit: 500,
          monthlySendLimit: 2_000,
          sentThisMonth: 960,
          unlimitedSends: false,
          periodEnd: '2026-12-01T00:00:00.000Z',
          paused: false,
          pausedReason: null,
        },
      },
    ],
  }),
})

export const getBroadcast = operation('GET /v1/broadcasts/:id', {
  id: 'getBroadcast',
  may: 'read',
  of: campaign,
  says: () => ({
    summary: 'What became of a campaign',
    answers: [answer('With its first 1,000 recipients', 'BroadcastDetail', detail, exampleDetail)],
  }),
})

export const updateBroadcast = operation('PATCH /v1/broadcasts/:id', {
  id: 'updateBroadcast',
  may: 'full',
  audit: 'broadcast.change',
  of: campaign,
  body: BroadcastChanges,
  says: () => ({
    summary: 'Change a draft',
    description:
      'Fields that are not given stay as they are. An empty `topicId`, `name` or `scheduledAt` takes it away, as do empty `replyTo`, `headers`, `tags` and `attachments`.',
    examples: {
      'Another subject': { subject: 'News of this week' },
      'Without its time': { scheduledAt: '' },
    },
    answers: [answer('The whole campaign', 'BroadcastDetail', detail, exampleDraft)],
    refusals: [
      refusal(
        'conflict',
        'It is not a draft (any more), or somebody else changes it',
        'Only a draft can be changed; this campaign is sending',
      ),
      ...contentRefusals,
    ],
  }),
})

export const broadcasts: Contract = {
  tag: {
    name: 'Campaigns',
    description:
      'One message to everybody on a contact list, for which the account needs a marketing plan. Each recipient gets a mail of their own, with the means to unsubscribe.',
  },
  operations: [
    previewBroadcast,
    testBroadcast,
    createBroadcast,
    listBroadcasts,
    getMarketingUsage,
    getBroadcast,
    updateBroadcast,
    listBroadcastRecipients,
    getBroadcastReport,
    rehearseBroadcast,
    duplicateBroadcast,
    sendBroadcast,
    pauseBroadcast,
    resumeBroadcast,
    cancelBroadcast,
    cancelRestOfBroadcast,
    takeBackBroadcast,
    chooseBroadcastVariant,
  ],
  shapes: () => ({ ...broadcastShapes(), ...reportShapes() }),
}
