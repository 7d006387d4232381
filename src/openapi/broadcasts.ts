import { emailStatuses } from '../emails/index.js'
import { broadcastSchemas } from './broadcast-schemas.js'
import { accountRefusals, foreignCursor, pageQuery } from './common.js'
import { count, type Description, orNull, refusal, text } from './describe.js'
import {
  attachmentRefusals,
  badCampaignTime,
  foreignFields,
  marketingRefusals,
  quotaRefusals,
  refusedHeader,
  senderRefusals,
  sendingRefusals,
} from './email-refusals.js'

const id = '01a1fc92-9915-7533-8296-04ee3d91dd72'
const listId = '01a1fc92-9915-7533-8296-0a5be7d1c2f3'
const params = { id: 'The UUID of the campaign' }
const noSuchList = refusal('not_found', 'No such list or topic', 'No such list')
const noSuchCampaign = refusal('not_found', 'No such campaign', 'No such campaign')
const archived = refusal(
  'conflict',
  'The topic is archived',
  'The topic "Offers" is archived; restore it to send on it',
)
const nobody = refusal(
  'validation_error',
  'Nobody is reachable',
  'Nobody on the list can be reached: it is empty, or all of it is suppressed or has left the topic',
)
const capReached = refusal(
  'plan_limit_exceeded',
  'The marketing plan allows no more campaign mails this month',
  '1800 of 2000 campaign mails of this month are used',
  {
    status: 402,
    shape: 'CampaignCap',
    fields: {
      limit: count("The plan's campaign mails a month"),
      used: count('Used of them'),
      plan: text('The marketing plan'),
    },
    example: { limit: 2_000, used: 1_800, plan: 'Marketing Free' },
  },
)
const doesNotRender = refusal(
  'validation_error',
  'The content does not render',
  'The campaign has a syntax error: unexpected "}" (html, line 1, column 7)',
  {
    status: 422,
    shape: 'BadContent',
    fields: {
      part: orNull(text('`subject` or `html`; null: all of it')),
      line: count('Where, from 1'),
      column: count('Where, from 1'),
    },
    optional: ['line', 'column'],
    example: { part: 'html', line: 1, column: 7 },
  },
)

const campaign = {
  listId,
  from: 'News <news@example.com>',
  subject: 'This week, {{ firstName | default: "friend" }}',
  html: '<p>Hello {{ firstName | default: "there" }}!</p>',
}
const sendingNow = { id, status: 'sending', recipientCount: 1_200 }
const scheduled = {
  id,
  status: 'scheduled',
  scheduledAt: '2026-12-24T18:00:00.000Z',
  estimatedRecipients: 1_200,
}
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
    ...{ recipients: 1_200, delivered: 1_180, bounced: 12, opened: 354, clicked: 59 },
    ...{ openRate: 30, clickRate: 5 },
  },
}
const noStats = {
  ...{ recipients: 0, delivered: 0, bounced: 0, opened: 0, clicked: 0 },
  ...{ openRate: 0, clickRate: 0 },
}
const isSending = { status: 200, when: 'It is being sent', shape: 'BroadcastSending' }
const isScheduled = { status: 200, when: 'It is scheduled', shape: 'BroadcastScheduled' }
const contentRefusals = [
  ...senderRefusals,
  badCampaignTime,
  refusedHeader,
  foreignFields,
  ...attachmentRefusals,
  ...marketingRefusals,
  noSuchList,
  archived,
  doesNotRender,
  ...sendingRefusals,
]

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
        refusal(
          'forbidden',
          '`to` is not one of your own mailboxes',
          'A test goes to a mailbox of your own: give a "to" on a verified domain of the account',
        ),
        refusal(
          'rate_limit_exceeded',
          'Too many tests within an hour',
          '20 tests were sent within an hour',
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
        { ...isSending, value: sendingNow },
        { ...isScheduled, value: scheduled },
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
      query: {
        limit: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
        cursor: text('`nextCursor` of the page before'),
      },
      answers: [
        {
          status: 200,
          when: 'Newest first',
          shape: 'Broadcasts',
          value: { broadcasts: [item], hasMore: false, nextCursor: null },
        },
      ],
      refusals: [
        refusal(
          'validation_error',
          'The cursor belongs to another list, or to no list',
          'The cursor does not belong to this list',
        ),
      ],
    },
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
            attachments: [
              {
                filename: 'programme.pdf',
                contentType: 'application/pdf',
                size: 48_211,
                contentId: null,
                disposition: 'attachment',
              },
            ],
            progress: { waiting: 0, relayed: 0, failed: 6, suppressed: 2, cancelled: 0 },
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
        'What is not given stays. An empty `topicId`, `name` or `scheduledAt` takes it away, as do empty `replyTo`, `headers`, `tags` and `attachments`.',
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
            ...{ ...item, status: 'draft', sentAt: null, stats: noStats },
            ...{ from: campaign.from, replyTo: [], headers: {}, tags: [], attachments: [] },
            progress: { waiting: 0, relayed: 0, failed: 0, suppressed: 0, cancelled: 0 },
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
    'GET /v1/broadcasts/:id/recipients': {
      id: 'listBroadcastRecipients',
      summary: 'The recipients of a campaign',
      description:
        'A page of one status may have fewer than `limit`, or none, and yet `hasMore`: go on by `nextCursor`.',
      params,
      query: {
        status: { type: 'string', enum: emailStatuses, description: 'Only these' },
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
    'POST /v1/broadcasts/:id/send': {
      id: 'sendBroadcast',
      summary: 'Send a draft',
      description: 'At its `scheduledAt`, if that is still to come; else at once.',
      params,
      answers: [
        { ...isSending, value: sendingNow },
        { ...isScheduled, value: scheduled },
      ],
      refusals: [
        noSuchCampaign,
        refusal(
          'conflict',
          'It is not a draft (any more)',
          'Only a draft can be sent; this campaign is sent',
        ),
        nobody,
        capReached,
        ...senderRefusals.filter(({ code }) => code === 'domain_not_verified'),
        ...marketingRefusals,
        ...sendingRefusals,
      ],
    },
    'POST /v1/broadcasts/:id/pause': {
      id: 'pauseBroadcast',
      summary: 'Pause a campaign',
      description:
        'One that is scheduled or sending: no more mails of it are made, and those that wait are held. What is under way at this moment still leaves. The answer comes when all that waits is held: of a very large campaign after some seconds.',
      params,
      answers: [
        {
          status: 200,
          when: 'It is paused',
          shape: 'BroadcastPaused',
          value: { id, status: 'paused', message: 'Campaign paused' },
        },
      ],
      refusals: [
        noSuchCampaign,
        refusal(
          'conflict',
          'It cannot be paused in its state, or the operator has paused it',
          'A campaign that is sent cannot be paused',
        ),
      ],
    },
    'POST /v1/broadcasts/:id/resume': {
      id: 'resumeBroadcast',
      summary: 'Let a campaign go on that you have paused',
      description:
        'What was to be dispatched meanwhile is dispatched at once. A pause by the operator is the operator’s to end: `pausedBy` tells whose it is.',
      params,
      answers: [
        {
          status: 200,
          when: 'It goes on within 30 seconds',
          shape: 'BroadcastResumed',
          value: { id, message: 'The campaign goes on' },
        },
      ],
      refusals: [
        noSuchCampaign,
        refusal(
          'conflict',
          'It is not paused, or by the operator',
          'The operator has paused the campaign, and only the operator resumes it',
        ),
      ],
    },
    'POST /v1/broadcasts/:id/cancel': {
      id: 'cancelBroadcast',
      summary: 'Cancel a draft or a scheduled campaign',
      params,
      answers: [
        {
          status: 200,
          when: 'It is cancelled',
          shape: 'BroadcastCancelled',
          value: { id, status: 'cancelled', message: 'Campaign cancelled' },
        },
      ],
      refusals: [
        noSuchCampaign,
        refusal(
          'conflict',
          'It is sending, or has ended',
          'The campaign is sending and cannot be cancelled',
        ),
      ],
    },
  },
}
