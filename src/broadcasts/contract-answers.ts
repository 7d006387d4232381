import { given, warnings } from '../emails/contract.js'
import {
  closed,
  count,
  hoursOfDays,
  orNull,
  type Schema,
  shaped,
  text,
  time,
  uuid,
} from '../fields/index.js'

/* What answers tell about campaigns, and the campaign of all examples. */
export const campaignId = uuid('The id of the campaign')
// In percent, as the contract has it for campaigns; the figures of `stats` are ratios.
const percent = (description: string): Schema => ({ type: 'number', minimum: 0, description })

/** What a list shows of a campaign; the detail adds figures and recipients to it. */
const shown = {
  id: campaignId,
  name: orNull(text('Its name, for yourself; null when it has none')),
  subject: text('The subject as given, with its merge tags'),
  status: text(
    '`sent`: every mail has ended, or was handed to a smart host. `paused`: by the operator, or because the account is',
    { enum: ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled', 'failed'] },
  ),
  pausedReason: orNull(text('Why it is paused; null when it is not')),
  pausedBy: orNull(
    text(
      'Who has paused it; null when it is not paused. The account resumes only its own pauses, the operator any. A campaign whose list has grown beyond what the plan has room for this month is the account’s to resume',
      {
        enum: ['account', 'operator'],
      },
    ),
  ),
  failedReason: orNull(
    text('Why it could not be dispatched; null unless its `status` is `failed`'),
  ),
  waitsFor: orNull(
    text(
      'Why a campaign that is due has not begun, or goes on later, such as a segment that is being filled or the hours in which it leaves; else null',
    ),
  ),
  listId: orNull(uuid('The contact list that it goes to; null where its `audience` is more')),
  audience: shaped('BroadcastWhom'),
  topicId: orNull(uuid('Its topic; null when it has none')),
  recipientCount: count(
    'How many recipients it has; before it is dispatched, how many it would have',
  ),
  scheduledAt: orNull(time('When it is or was to be dispatched; null: no time was given')),
  sentAt: orNull(time('When it was dispatched; null before')),
  createdAt: time('When the campaign was made'),
  stats: shaped('BroadcastStats'),
}

/**
 * Only the fields that interface.md names for a recipient: one answer may have 1,000 recipients.
 */
export const recipientFields = {
  email: text('The address of the recipient'),
  status: shaped('EmailStatus'),
  openedAt: orNull(time('When a person first opened the mail; null: not yet')),
  clickedAt: orNull(time('When a person first clicked a link in it; null: not yet')),
  opensCount: count('How often people opened it; machines are not counted'),
  clicksCount: count('How often people clicked a link in it; machines are not counted'),
}

/** A campaign's versions, and how they are tried. */
export const versions = {
  variants: {
    type: 'array',
    maxItems: 5,
    items: shaped('BroadcastVariant'),
    description: 'Its versions; none where it has one content',
  },
  variantTest: {
    anyOf: [shaped('BroadcastVariantTest'), { type: 'null' }],
    description: 'How its versions are tried; null where it has none',
  },
}

/** One campaign, with its results. */
export const detail = {
  ...shown,
  from: text('The sender, as given'),
  previewText: orNull(
    text(
      'What inboxes show beside the subject, with its merge tags; null: the first words of the mail',
    ),
  ),
  blocks: {
    anyOf: [shaped('BlockDocument'), { type: 'null' }],
    description: 'The blocks that its HTML is made of; null where somebody wrote the HTML',
  },
  rate: orNull(count('At most so many of its mails leave an hour; null: as fast as they can')),
  window: {
    anyOf: [shaped('SendWindow'), { type: 'null' }],
    description: 'The hours in which its mails leave; null: all',
  },
  localTimeOf: orNull(
    text(
      'The zone whose time at `scheduledAt` is that of each recipient’s own clock; else null. It is `sending` once it is that time anywhere, up to 26 hours before the first of them gets it; `waitsFor` then says when that is',
    ),
  ),
  notice: orNull(
    text(
      'Why everybody gets it, also who has unsubscribed, as an owner has said in the dashboard; null: it is no notice',
    ),
  ),
  archive: {
    type: 'boolean',
    description: 'Whether it is on the public page of past campaigns, and has a link for browsers',
  },
  ...versions,
  ...given,
  tags: { type: 'array', items: shaped('Tag'), description: 'The tags of its mails' },
  warnings,
  progress: closed({
    waiting: count('How many mails have not ended'),
    relayed: count('How many a smart host has taken, which has told no more'),
    failed: count('How many were given up after the time for which mail is tried'),
    suppressed: count(
      'How many were not sent as the recipient had unsubscribed, bounced or complained since',
    ),
    cancelled: count('How many were cancelled before they left'),
    waitsForRoom: {
      type: 'boolean',
      description:
        'True: mails are still to be made, and the appliance has no room for more now, as its queue or its disk is full. It goes on by itself',
    },
  }),
  recipients: {
    type: 'array',
    maxItems: 1_000,
    description: 'The first 1,000 recipients',
    items: closed(recipientFields),
  },
}

const ids = (description: string): Schema => ({
  type: 'array',
  maxItems: 20,
  items: uuid('An id'),
  description,
})

/** The figures of one part of the audience. */
const ofPart = (part: string) => ({
  recipients: count(`Of \`recipients\`, those of ${part}`),
  delivered: count('Of `delivered`, the same'),
  opened: count('Of `opened`, the same'),
  clicked: count('Of `clicked`, the same'),
})

/** The shapes that others refer to by name. */
export const broadcastShapes = (): Record<string, Schema> => ({
  SendWindow: hoursOfDays('Hours on some days').schema,
  BroadcastWhom: closed({
    lists: ids('The lists whose people get it'),
    segments: ids('The segments whose people get it'),
    withoutLists: ids('The lists whose people do not get it'),
    withoutSegments: ids('The segments whose people do not get it'),
  }),
  BroadcastStats: closed({
    recipients: count('How many mails were made so far'),
    delivered: count('How many mails the recipient’s server has taken'),
    bounced: count('How many mails it has refused for good'),
    opened: count('How many mails people opened'),
    clicked: count('In how many mails people clicked a link'),
    left: count('How many unsubscribed, or left the topic, by it'),
    openRate: percent('`opened` in percent of the mails that servers or smart hosts have taken'),
    clickRate: percent('`clicked` in percent of the same'),
  }),
  BroadcastVariant: closed({
    key: text('Its key'),
    subject: orNull(text('Its subject; null: the campaign’s, as in the next ones')),
    fromName: orNull(text('The name of its sender')),
    previewText: orNull(text('Its preview text')),
    blocks: {
      anyOf: [shaped('BlockDocument'), { type: 'null' }],
      description: 'The blocks of its content; null: none of its own, or HTML',
    },
    ownContent: { type: 'boolean', description: 'Whether it has a content of its own' },
    recipients: count('How many mails of it were made, of the test and of the rest'),
    delivered: count('How many servers and smart hosts have taken'),
    bounced: count('How many were refused for good'),
    opened: count('How many people opened'),
    clicked: count('In how many people clicked a link'),
    test: closed({
      ...ofPart('the test'),
      compared: closed({
        did: count('In how many people did what versions are measured by'),
        of: count('Of how many that had arrived'),
      }),
    }),
    rest: {
      anyOf: [closed(ofPart('the rest')), { type: 'null' }],
      description:
        'Of the rest, which gets the chosen version; null of the others, before one is chosen, and where a release before this one chose it',
    },
    chance: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description:
        'The chance that it is better than all others, by what they are measured by; those of all versions are 1 together',
    },
  }),
  BroadcastVariantTest: closed({
    share: count('Percent of the audience that the test goes to'),
    decideAfter: {
      oneOf: [{ type: 'integer' }, { const: 'by hand' }],
      description: 'Hours after the last mail of the test',
    },
    by: text('What versions are measured by', { enum: ['clicks', 'opens'] }),
    ifClose: text('What the rest gets where none is better for sure', {
      enum: ['control', 'wait'],
    }),
    decideAt: orNull(
      time('When the version for the rest is chosen; null: not known yet, or by hand'),
    ),
    chosen: orNull(text('The key of the version that the rest gets; null before')),
    chosenBy: orNull(
      text('Who chose: the figures, the rule for what is too close, or the account', {
        enum: ['figures', 'close', 'account'],
      }),
    ),
    chosenAt: orNull(time('When it was chosen')),
  }),
  Broadcast: closed(shown),
})

/** The marketing plan, and how much of it is used. */
export const usage = (): Schema =>
  closed(
    {
      plan: closed({
        id: uuid('The id of the plan, which stays the same when the plan is renamed'),
        name: text('The name of the plan, as people see it'),
        priceNaira: { type: 'number', minimum: 0, description: 'The price of a month in Naira' },
        maxMarketingContacts: count('How many contacts the plan allows'),
      }),
      subscribed: {
        type: 'boolean',
        description: 'Whether the account has the plan; if not, it is the smallest there is',
      },
      contacts: count('How many contacts the account has'),
      contactLimit: count('How many contacts it may have; 0 together with `unlimitedContacts`'),
      unlimitedContacts: {
        const: true,
        description: 'True when contacts have no limit, else absent',
      },
      monthlySendLimit: orNull(
        count('How many campaign mails a calendar month (UTC) allows; null: any number'),
      ),
      sentThisMonth: count('How many campaign mails of this month are used'),
      unlimitedSends: { type: 'boolean', description: 'Whether campaign mails have no limit' },
      periodEnd: time('When the count of campaign mails starts again'),
      paused: { type: 'boolean', description: 'True: no campaign mail leaves' },
      pausedReason: orNull(text('Why no campaign mail leaves; null when it does')),
    },
    ['unlimitedContacts'],
  )

export const exampleId = '01a1fc92-9915-7533-8296-04ee3d91dd72'
export const exampleListId = '01a1fc92-9915-7533-8296-0a5be7d1c2f3'
/** Everybody on a list, with nobody left out. */
export const exampleAudience = { lists: [exampleListId], segments: [], withoutLists: [] }
/** The request with which the examples of all operations begin. */
export const exampleCampaign = {
  listId: exampleListId,
  from: 'News <news@example.com>',
  subject: 'This week, {{ firstName | default: "friend" }}',
  html: '<p>Hello {{ firstName | default: "there" }}!</p>',
}
/** A campaign that has ended: then no field is null without a reason. */
export const exampleItem = {
  id: exampleId,
  name: 'Week 47',
  subject: exampleCampaign.subject,
  status: 'sent',
  pausedReason: null,
  pausedBy: null,
  failedReason: null,
  waitsFor: null,
  listId: exampleListId,
  audience: { lists: [exampleListId], segments: [], withoutLists: [], withoutSegments: [] },
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
    left: 3,
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
  left: 0,
  openRate: 0,
  clickRate: 0,
}
const exampleVariant = {
  subject: null,
  fromName: null,
  previewText: null,
  blocks: null,
  ownContent: false,
  recipients: 120,
  delivered: 118,
  bounced: 1,
  opened: 40,
}
const partsOf = (clicked: number) => ({
  test: {
    recipients: 120,
    delivered: 118,
    opened: 40,
    clicked,
    compared: { did: clicked, of: 118 },
  },
  rest: null,
})
/** Two versions, of which the second was chosen. */
export const exampleVersions = {
  variants: [
    { ...exampleVariant, key: 'A', clicked: 9, ...partsOf(9), chance: 0.07 },
    {
      ...exampleVariant,
      key: 'B',
      subject: 'Three things to do',
      recipients: 1_080,
      delivered: 1_062,
      opened: 360,
      clicked: 151,
      ...partsOf(17),
      rest: { recipients: 960, delivered: 944, opened: 320, clicked: 134 },
      chance: 0.93,
    },
  ],
  variantTest: {
    share: 20,
    decideAfter: 4,
    by: 'clicks',
    ifClose: 'control',
    decideAt: '2026-11-21T14:05:00.000Z',
    chosen: 'B',
    chosenBy: 'figures',
    chosenAt: '2026-11-21T14:05:01.000Z',
  },
}
/** The example with its first recipient. */
export const exampleDetail = {
  ...exampleItem,
  from: exampleCampaign.from,
  previewText: null,
  blocks: null,
  rate: 5_000,
  window: { from: '09:00', to: '17:00', days: [1, 2, 3, 4, 5], zone: 'Africa/Lagos' },
  localTimeOf: null,
  notice: null,
  archive: false,
  ...exampleVersions,
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
}
/** The example as a draft. */
export const exampleDraft = {
  ...exampleDetail,
  status: 'draft',
  sentAt: null,
  stats: noStats,
  replyTo: [],
  headers: {},
  tags: [],
  attachments: [],
  progress: { ...exampleDetail.progress, failed: 0, suppressed: 0 },
  recipients: [],
}
