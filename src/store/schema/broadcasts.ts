import { integer, type RowOf, table, text } from './table.js'

/** A campaign, with counters of what became of its mails. */
const broadcasts = table(
  'broadcasts',
  {
    id: text().primaryKey(),
    account_id: text(),
    /** Empty where `whom` says it. */
    list_id: text(),
    topic_id: text().orNull(),
    /** Never shown to recipients. */
    name: text().orNull(),
    domain_id: text(),
    /** As given: `a@b` or `Name <a@b>`. */
    from_header: text(),
    reply_to: text().orNull(),
    /** Liquid, as is the HTML of its body. */
    subject: text(),
    body_id: integer(),
    status: text<'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed'>(),
    /** Why it is paused or has failed. */
    reason: text().orNull(),
    /** Its account, which may resume it, or a fault of ours; null: an operator. */
    paused_by: text<'account' | 'fault'>().orNull(),
    scheduled_at: integer().orNull(),
    created_at: integer(),
    /** When its dispatch began. */
    sent_at: integer().orNull(),
    ended_at: integer().orNull(),
    /** When a draft was changed, if it was. */
    changed_at: integer().orNull(),
    /** How many were reachable when it was made, then when it was dispatched. */
    audience: integer(),
    /** The last contact of the list that was looked at. */
    cursor: text(),
    /** 1 once all of the list was looked at. */
    expanded: integer(),
    /** When it last was. */
    expanded_at: integer().orNull(),
    /** How many mails the campaign has; each is counted in one of the next seven. */
    recipients: integer(),
    waiting: integer(),
    delivered: integer(),
    relayed: integer(),
    bounced: integer(),
    failed: integer(),
    suppressed: integer(),
    cancelled: integer(),
    /** Those of `bounced` that a server or smart host had taken before. */
    bounced_late: integer().default(0),
    /** Mails that were, once or more often, by a person as far as that can be told. */
    opened: integer(),
    clicked: integer(),
    /** JSON of `MailExtras`, for all its mails. */
    extras: text().orNull(),
    /** Goes up with each pause, resume and cancel. */
    course: integer().default(0),
    /** When its waiting mail was last made to follow its status; null once all of it does. */
    course_at: integer().orNull(),
    /** JSON of `Whom`, where the audience is not one list. */
    whom: text().orNull(),
    /** JSON of `AudienceCount`, as `audience` was counted. */
    counts: text().orNull(),
    /** At dispatch: marks of changes up to this one are waited for, so that segments are up to date. */
    marks_up_to: integer().orNull(),
    /** Liquid; what inboxes show beside the subject. */
    preview_text: text().orNull(),
    /** JSON of the document that the HTML is made of; null where somebody wrote the HTML. */
    blocks: text().orNull(),
    /** Of a draft whose page has blocks that are not finished: all of them as they were typed, and which lack what (JSON). */
    unfinished: text().orNull(),
    /** Goes up with each change of a draft. */
    revision: integer().default(0),
    /** At most so many mails an hour; null: as fast as they can be made. */
    rate: integer().orNull(),
    /** JSON of the hours in which they may leave; null: all. */
    send_window: text().orNull(),
    /** Each recipient gets it when their own clock shows what clocks in this zone show at `scheduled_at`; null: all at once. */
    local_zone: text().orNull(),
    /** When it begins, where that is not `scheduled_at`; once it is sending, when its next mails can be made, null: now. */
    next_at: integer().orNull(),
    /** When the mail behind the last one that was made may leave. */
    paced_to: integer().orNull(),
    /** Why everybody must get it, also who has unsubscribed; null: it is no notice. */
    notice_reason: text().orNull(),
    /** JSON of `VariantTest`, where it has versions; null: none. */
    variant_test: text().orNull(),
    /** How many of its audience got no mail when its mails were made, by why. */
    out_unsubscribed: integer().default(0),
    out_bounced: integer().default(0),
    out_complained: integer().default(0),
    out_suppressed: integer().default(0),
    out_topic: integer().default(0),
    /** How many of its audience were looked at for its test, and how many were drawn. */
    test_seen: integer().default(0),
    test_drawn: integer().default(0),
    /** When the version for the rest is chosen; null: not yet, or by hand. */
    decide_at: integer().orNull(),
    /** The key of the version that the rest gets, once it is chosen. */
    winner: text().orNull(),
    decided_by: text<'figures' | 'close' | 'account'>().orNull(),
    decided_at: integer().orNull(),
    /** 1: it is on the account's public page, and each recipient can look at theirs in a browser. */
    archive: integer<0 | 1>().default(0),
    /**
     * The mail up to which it is noted, by contact, whose mail a server has taken; `all`: of all of them, and of each from
     * now on; null: nothing asks for that.
     */
    mailed_through: text().orNull(),
  },
  {
    indexes: {
      broadcasts_account: ['account_id', 'id'],
      // Pages have a tab a state.
      broadcasts_of_status: ['account_id', 'status', 'id'],
      // The calendar's.
      broadcasts_by_sent_at: {
        on: ['account_id', 'sent_at'],
        where: (row) => row('sent_at', 'is not', null),
      },
      broadcasts_by_scheduled_at: {
        on: ['account_id', 'scheduled_at'],
        where: (row) => row('scheduled_at', 'is not', null),
      },
      // The public page of past campaigns.
      broadcasts_archived: {
        on: ['account_id', 'sent_at', 'id'],
        where: (row) => row('archive', '=', 1),
      },
      broadcasts_mailed: {
        on: ['mailed_through'],
        where: (row) => row('mailed_through', '<>', 'all'),
      },
      broadcasts_unfinished: {
        on: ['status'],
        where: (row) => row('status', 'in', ['scheduled', 'sending']),
      },
      // Asked before a body is deleted.
      broadcasts_body: ['body_id'],
      broadcasts_course: { on: ['course_at'], where: (row) => row('course_at', 'is not', null) },
    },
  },
)

export interface BroadcastRow extends RowOf<typeof broadcasts> {}

/** Test sends of the last hour. */
const broadcastTests = table(
  'broadcast_tests',
  {
    id: integer().primaryKey(),
    account_id: text(),
    sent_at: integer(),
  },
  { indexes: { broadcast_tests_account: ['account_id', 'sent_at'] } },
)

/** Who of a campaign gets it later, when it is that time by their own clock. */
const broadcastLater = table(
  'broadcast_later',
  {
    broadcast_id: text(),
    due_at: integer(),
    contact_id: text(),
  },
  { primaryKey: ['broadcast_id', 'due_at', 'contact_id'], isClustered: true },
)

/** The versions of a campaign that tests several. What is null is as the campaign has it. */
const broadcastVariants = table(
  'broadcast_variants',
  {
    broadcast_id: text(),
    key: text(),
    /** Liquid, as is the next but one. */
    subject: text().orNull(),
    from_name: text().orNull(),
    preview_text: text().orNull(),
    /** JSON of the document that its HTML is made of. */
    blocks: text().orNull(),
    body_id: integer().orNull(),
    /** JSON of what its page has that is not finished. */
    unfinished: text().orNull(),
    /** Mails of the test and of the rest, as the campaign's own counters. */
    recipients: integer().default(0),
    delivered: integer().default(0),
    relayed: integer().default(0),
    bounced: integer().default(0),
    failed: integer().default(0),
    suppressed: integer().default(0),
    /** By people. */
    opened: integer().default(0),
    clicked: integer().default(0),
    /** Of its test alone, at the decision: how many mails had arrived, and with how many people did what it is measured by. */
    test_arrived: integer().orNull(),
    test_did: integer().orNull(),
    /** Of the one that was chosen: the last mail of the test, behind which those of the rest are; null: there is no rest. */
    rest_after: text().orNull(),
    /** Of its rest, and in the counters above too. Of a campaign decided by an older release they are 0. */
    rest_mails: integer().default(0),
    /** As servers and smart hosts have taken them. */
    rest_arrived: integer().default(0),
    rest_opened: integer().default(0),
    rest_clicked: integer().default(0),
  },
  {
    primaryKey: ['broadcast_id', 'key'],
    isClustered: true,
    // Asked before a body is deleted.
    indexes: { broadcast_variants_body: ['body_id'] },
  },
)

/** Who got a mail of the test of a campaign, until its rest is gone through. */
const broadcastTested = table(
  'broadcast_tested',
  {
    broadcast_id: text(),
    contact_id: text(),
  },
  { primaryKey: ['broadcast_id', 'contact_id'], isClustered: true },
)

/** Who of its audience got no mail when a campaign's mails were made. */
const broadcastLeftOut = table(
  'broadcast_left_out',
  {
    broadcast_id: text(),
    contact_id: text(),
    why: text<'unsubscribed' | 'bounced' | 'complained' | 'suppressed' | 'leftTopic'>(),
  },
  { primaryKey: ['broadcast_id', 'contact_id'], isClustered: true },
)

export interface BroadcastVariantRow extends RowOf<typeof broadcastVariants> {}

export const broadcastsTables = [
  broadcasts,
  broadcastTests,
  broadcastLater,
  broadcastVariants,
  broadcastTested,
  broadcastLeftOut,
] as const
