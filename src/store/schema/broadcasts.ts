import { integer, type RowOf, table, text } from './table.js'

/** A campaign, with counters of what happened to its mails. */
const broadcasts = table(
  'broadcasts',
  {
    id: text().primaryKey(),
    account_id: text(),
    /** Empty where `whom` has the audience. */
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
    /** Who paused it: its account, which may resume it, or a fault of ours; null: an operator. */
    paused_by: text<'account' | 'fault'>().orNull(),
    scheduled_at: integer().orNull(),
    created_at: integer(),
    /** When its dispatch began. */
    sent_at: integer().orNull(),
    ended_at: integer().orNull(),
    /** When a draft was changed, if it was. */
    changed_at: integer().orNull(),
    /** How many recipients were reachable when it was made; later, when it was dispatched. */
    audience: integer(),
    /** The last contact of the list that was looked at. */
    cursor: text(),
    /** 1 once all of the list was looked at. */
    expanded: integer(),
    /** When contacts of the list were last looked at. */
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
    /** How many of `bounced` a server or smart host had taken before. */
    bounced_late: integer().default(0),
    /** Mails that were opened, once or more often, by a person as far as that can be told. */
    opened: integer(),
    clicked: integer(),
    /** JSON of `MailExtras`, for all its mails. */
    extras: text().orNull(),
    /** Goes up with each pause, resume and cancel. */
    course: integer().default(0),
    /** When its waiting mail was last adapted to its status; null once all of it is. */
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
    /** For a draft with unfinished blocks (JSON): all blocks as they were typed, and what is missing in which. */
    unfinished: text().orNull(),
    /** Goes up with each change of a draft. */
    revision: integer().default(0),
    /** At most so many mails an hour; null: as fast as they can be made. */
    rate: integer().orNull(),
    /** JSON of the hours in which they may leave; null: all. */
    send_window: text().orNull(),
    /**
     * Each recipient gets it when their own clock shows the time that this zone's clock shows at `scheduled_at`;
     * null: all at once.
     */
    local_zone: text().orNull(),
    /** When it begins, where that is not `scheduled_at`; once it is sending, when its next mails can be made, null: now. */
    next_at: integer().orNull(),
    /** When the mail after the last one that was made may leave. */
    paced_to: integer().orNull(),
    /** Why everybody must get it, even people who have unsubscribed; null: it is not a notice. */
    notice_reason: text().orNull(),
    /** JSON of `VariantTest`, where it has versions; null: none. */
    variant_test: text().orNull(),
    /** How many of its audience got no mail when its mails were made, by reason. */
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
     * The mail up to which it is noted, for each contact, whether a server has taken their mail; `all`: it is noted
     * for all mails, and for each from now on; null: nothing asks for that.
     */
    mailed_through: text().orNull(),
  },
  {
    indexes: {
      broadcasts_account: ['account_id', 'id'],
      // Pages have a tab for each state.
      broadcasts_of_status: ['account_id', 'status', 'id'],
      // For the calendar page.
      broadcasts_by_sent_at: {
        on: ['account_id', 'sent_at'],
        where: (row) => row('sent_at', 'is not', null),
      },
      broadcasts_by_scheduled_at: {
        on: ['account_id', 'scheduled_at'],
        where: (row) => row('scheduled_at', 'is not', null),
      },
      // For the public page of past campaigns.
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

/** Recipients of a campaign who get it later, at that time by their own clock. */
const broadcastLater = table(
  'broadcast_later',
  {
    broadcast_id: text(),
    due_at: integer(),
    contact_id: text(),
  },
  { primaryKey: ['broadcast_id', 'due_at', 'contact_id'], isClustered: true },
)

/** The versions of a campaign that tests several. Null columns are as in the campaign. */
const broadcastVariants = table(
  'broadcast_variants',
  {
    broadcast_id: text(),
    key: text(),
    /** Liquid, like the next column but one. */
    subject: text().orNull(),
    from_name: text().orNull(),
    preview_text: text().orNull(),
    /** JSON of the document that its HTML is made of. */
    blocks: text().orNull(),
    body_id: integer().orNull(),
    /** JSON of its unfinished blocks. */
    unfinished: text().orNull(),
    /** Mails of the test and of the rest, counted like the campaign's. */
    recipients: integer().default(0),
    delivered: integer().default(0),
    relayed: integer().default(0),
    bounced: integer().default(0),
    failed: integer().default(0),
    suppressed: integer().default(0),
    /** By people. */
    opened: integer().default(0),
    clicked: integer().default(0),
    /**
     * In its test only, at the decision: how many mails had arrived, and in how many of them people did what is
     * measured.
     */
    test_arrived: integer().orNull(),
    test_did: integer().orNull(),
    /**
     * For the chosen version: the last mail of the test, after which the mails of the rest come; null: there is no
     * rest.
     */
    rest_after: text().orNull(),
    /** Counters of its rest, which are included above. For a campaign that an older release decided they are 0. */
    rest_mails: integer().default(0),
    /** How many servers and smart hosts have taken. */
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

/** Contacts who got a mail of a campaign's test, kept until its rest is made. */
const broadcastTested = table(
  'broadcast_tested',
  {
    broadcast_id: text(),
    contact_id: text(),
  },
  { primaryKey: ['broadcast_id', 'contact_id'], isClustered: true },
)

/** Contacts of the audience who got no mail when a campaign's mails were made. */
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
