import { accountRefusals, foreignCursor, pageQuery, refusal } from '../contract/index.js'
import { emailStatuses } from '../emails/index.js'
import {
  archived,
  capReached,
  contentRefusals,
  nobody,
  noSuchCampaign,
  noSuchList,
} from './broadcast-refusals.js'
import { broadcastSchemas } from './broadcast-schemas.js'
import { broadcastStates, id, isScheduled, isSending, params } from './broadcast-states.js'
import type { Description } from './description.js'
import { quotaRefusals } from './email-refusals.js'

const listId = '01a1fc92-9915-7533-8296-0a5be7d1c2f3'
/** The request that the examples of all operations begin with. */
const campaign = {
  listId,
  from: 'News <news@example.com>',
  subject: 'This week, {{ firstName | default: "friend" }}',
  html: '<p>Hello {{ firstName | default: "there" }}!</p>',
}
/** A campaign that has ended, as then no field is null without a reason. */
const item = {
  id,
  name: 'Week 47',
  subject: campaign.subject,
  status: 'sent',
  pausedReason: null,
  pausedBy: null,
  failedReason: null,
  listId,
  topicId: null,
  recipientCount: 1_200,
  scheduledAt: null,
  sentAt: '2026-11-21T10:00:00.000Z',
  createdAt: '2026-11-21T10:00:00.000Z',
  stats: {
    recipients: 1_200,
    delivered: 1_180,
    bounced: 12,
    opened: 354,
    clicked: 59,
    openRate: 30,
    clickRate: 5,
  },
}
/** A draft has all figures as zeros, so that a client needs no second type. */
const noStats = {
  recipients: 0,
  delivered: 0,
  bounced: 0,
  opened: 0,
  clicked: 0,
  openRate: 0,
  clickRate: 0,
}
export const broadcasts: Description = {
  tag: {
    name: 'Campaigns',
    description:
      'One message to everybody on a contact list, for which the account needs a marketing plan. Each recipient gets a mail of their own, with the means to unsubscribe.',
  },
  schemas: broadcastSchemas,
  operations: {
    'POST /v1/broadcasts/preview': {
      id: 'previewBroadcast',
      summary: 'Whom a campaign would reach',
      body: {
        shape: 'BroadcastAudience',
        examples: [{ when: 'A list', value: { listId } }],
      },
      answers: [
        {
          status: 200,
          when: 'As it stands now',
          shape: 'BroadcastPreview',
          value: {
            recipientCount: 1_200,
            sample: ['a***@example.org', 'b***@example.net'],
            note: 'Who has unsubscribed is not counted.',
          },
        },
      ],
      refusals: [noSuchList, archived, ...accountRefusals],
    },
    'POST /v1/broadcasts/test': {
      id: 'testBroadcast',
      summary: 'Send a campaign to yourself',
      description:
        'The mail that recipients would get, with the data of the contact if `to` is one. At most 20 in any 60 minutes. It counts as a single mail of the email plan, and in no campaign’s figures.',
      body: {
        shape: 'TestBroadcast',
        examples: [{ when: 'To a mailbox', value: { ...campaign, to: 'me@example.com' } }],
      },
      answers: [
        {
          status: 200,
          when: 'It is queued',
          shape: 'TestSent',
          value: { id, message: 'Test campaign sent' },
        },
      ],
      refusals: [
        // A test goes to the address that is given and to no list: to anybody's it would be a way to mail strangers.
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
    },
    'POST /v1/broadcasts': {
      id: 'createBroadcast',
      summary: 'Make a campaign',
      description:
        'Without `scheduledAt` it is dispatched at once. The audience is looked at again at dispatch, and every recipient once more when their mail leaves.',
      body: {
        shape: 'NewBroadcast',
        examples: [
          { when: 'At once', value: campaign },
          {
            when: 'Later, on a topic',
            value: {
              ...campaign,
              name: 'Christmas',
              topicId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
              scheduledAt: '2026-12-24T18:00:00Z',
            },
          },
          { when: 'As a draft', value: { ...campaign, draft: true } },
        ],
      },
      answers: [
        isSending,
        isScheduled,
        {
          status: 200,
          when: 'It is a draft',
          shape: 'BroadcastDraft',
          value: { id, status: 'draft', estimatedRecipients: 1_200 },
        },
      ],
      refusals: [nobody, capReached, ...contentRefusals],
    },
    'GET /v1/broadcasts': {
      id: 'listBroadcasts',
      summary: 'List the campaigns',
      query: pageQuery,
      answers: [
        {
          status: 200,
          when: 'Newest first',
          shape: 'Broadcasts',
          value: { broadcasts: [item], hasMore: false, nextCursor: null },
        },
      ],
      refusals: [foreignCursor],
    },
    // The contract's path. `plan` is no UUID, so it cannot be taken for a campaign.
    'GET /v1/broadcasts/plan/usage': {
      id: 'getMarketingUsage',
      summary: 'The marketing plan, and what is used of it',
      answers: [
        {
          status: 200,
          when: 'As it stands now',
          shape: 'MarketingUsage',
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
      refusals: [],
    },
    'GET /v1/broadcasts/:id': {
      id: 'getBroadcast',
      summary: 'What became of a campaign',
      params,
      answers: [
        {
          status: 200,
          when: 'With its first 1,000 recipients',
          shape: 'BroadcastDetail',
          value: {
            ...item,
            from: campaign.from,
            replyTo: ['help@example.com'],
            headers: { 'X-Entity-Ref-ID': '4711' },
            tags: [{ name: 'season', value: 'winter' }],
            warnings: [],
            attachments: [
              {
                filename: 'programme.pdf',
                contentType: 'application/pdf',
                size: 48_211,
                contentId: null,
                disposition: 'attachment',
              },
            ],
            progress: {
              waiting: 0,
              relayed: 0,
              failed: 6,
              suppressed: 2,
              cancelled: 0,
              waitsForRoom: false,
            },
            recipients: [
              {
                email: 'ann@example.org',
                status: 'delivered',
                openedAt: '2026-11-21T10:12:00.000Z',
                clickedAt: null,
                opensCount: 2,
                clicksCount: 0,
              },
            ],
          },
        },
      ],
      refusals: [noSuchCampaign],
    },
    'PATCH /v1/broadcasts/:id': {
      id: 'updateBroadcast',
      summary: 'Change a draft',
      description:
        'Fields that are not given stay as they are. An empty `topicId`, `name` or `scheduledAt` takes it away, as do empty `replyTo`, `headers`, `tags` and `attachments`.',
      params,
      body: {
        shape: 'BroadcastChanges',
        examples: [
          { when: 'Another subject', value: { subject: 'News of this week' } },
          { when: 'Without its time', value: { scheduledAt: '' } },
        ],
      },
      answers: [
        {
          status: 200,
          when: 'The whole campaign',
          shape: 'BroadcastDetail',
          value: {
            ...item,
            status: 'draft',
            sentAt: null,
            stats: noStats,
            from: campaign.from,
            replyTo: [],
            headers: {},
            tags: [],
            warnings: [],
            attachments: [],
            progress: {
              waiting: 0,
              relayed: 0,
              failed: 0,
              suppressed: 0,
              cancelled: 0,
              waitsForRoom: false,
            },
            recipients: [],
          },
        },
      ],
      refusals: [
        noSuchCampaign,
        refusal(
          'conflict',
          'It is not a draft (any more), or somebody else changes it',
          'Only a draft can be changed; this campaign is sending',
        ),
        ...contentRefusals,
      ],
    },
    // Ours beside the contract, whose detail shows the first 1,000 recipients and no more.
    'GET /v1/broadcasts/:id/recipients': {
      id: 'listBroadcastRecipients',
      summary: 'The recipients of a campaign',
      description:
        'A page of one status may have fewer than `limit`, or none, and yet `hasMore`: go on by `nextCursor`.',
      params,
      query: {
        status: {
          type: 'string',
          enum: emailStatuses,
          description: 'Only recipients whose mail has this status',
        },
        ...pageQuery,
      },
      answers: [
        {
          status: 200,
          when: 'In the order in which their mails were made',
          shape: 'BroadcastRecipients',
          value: {
            recipients: [
              {
                emailId: '01a1fc92-9915-7533-8296-04ee3d91dd72',
                email: 'ann@example.org',
                status: 'delivered',
                openedAt: '2026-11-21T10:12:00.000Z',
                clickedAt: null,
                opensCount: 2,
                clicksCount: 0,
              },
            ],
            hasMore: false,
            nextCursor: null,
          },
        },
      ],
      refusals: [noSuchCampaign, foreignCursor],
    },
    ...broadcastStates,
  },
}
