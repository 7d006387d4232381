import { blob, integer, type RowOf, table, text } from './table.js'

/** A rule for mail to a receiving domain; an account's rules are tried in the order of their places. */
const receivingRules = table(
  'receiving_rules',
  {
    id: text().primaryKey(),
    account_id: text(),
    domain_id: text().references('domains', 'cascade'),
    place: integer(),
    /** What the rule compares: the whole local part, its beginning, or nothing. */
    kind: text<'address' | 'prefix' | 'all'>(),
    /** Lower case; empty where the rule takes all mail. */
    local: text(),
    action: text<'webhook' | 'forward' | 'store'>(),
    forward_to: text().orNull(),
    enabled: integer(),
    created_at: integer(),
  },
  {
    indexes: {
      receiving_rules_account: { on: ['account_id', 'place', 'id'] },
      receiving_rules_domain: { on: ['domain_id', 'place', 'id'] },
    },
  },
)

export interface ReceivingRuleRow extends RowOf<typeof receivingRules> {}

/** A mail that came in for an account, from its final dot on. */
const received = table(
  'received',
  {
    id: text().primaryKey(),
    account_id: text(),
    domain_id: text(),
    rule_id: text(),
    /** The rule's action when the mail came. */
    action: text<'webhook' | 'forward' | 'store'>(),
    forward_to: text().orNull(),
    received_at: integer(),
    /** When it is to be read; null: it has been read. */
    due_at: integer().orNull(),
    /** How often reading it was broken off. */
    tries: integer(),
    /** The appliance that reads it. */
    node: integer().ofOwnNode(),
    remote_address: text(),
    /** How the client called itself. */
    helo: text(),
    /** Empty for the null sender. */
    mail_from: text(),
    recipient: text(),
    /** The size of the whole message, header and body. */
    size_bytes: integer(),
    /** Its body, in `contents`. */
    content_id: integer(),
    body_bytes: integer(),
    header_from: text(),
    subject: text(),
    message_id: text(),
    in_reply_to: text(),
    /** The mail of the account that it answers. */
    email_id: text().orNull(),
    attachments: integer(),
    /** Results in the words of RFC 8601; empty until it is read. */
    spf: text(),
    dkim: text(),
    dmarc: text(),
    arc: text(),
    /** Why it seems to be sent by a machine; null: nothing says so. */
    automatic: text().orNull(),
    /** 1: it has already been forwarded from here. */
    is_loop: integer(),
    /** JSON: what the spam filter said; null: it was not asked, or did not answer in time. */
    spam: text().orNull(),
    /** The mail that forwarded it, or why it was not forwarded. */
    forward_id: text().orNull(),
    forward_fault: text().orNull(),
    /** Why it could not be read: then only the message is kept. */
    fault: text().orNull(),
  },
  {
    indexes: {
      received_account: { on: ['account_id', 'id'] },
      received_email: { on: ['email_id', 'id'], where: (row) => row('email_id', 'is not', null) },
      received_waiting: {
        on: ['node', 'due_at', 'id'],
        where: (row) => row('due_at', 'is not', null),
      },
    },
  },
)

export interface ReceivedRow extends Omit<RowOf<typeof received>, 'node'> {
  node: number
}

/** The header as it came; separate, because lists of mails do not read it. */
const receivedHeaders = table(
  'received_headers',
  { received_id: text().primaryKey(), header: blob() },
  { isClustered: true },
)

/** The parsed content of a mail. */
const receivedTexts = table(
  'received_texts',
  {
    received_id: text().primaryKey(),
    text: text().orNull(),
    /** What the text quotes of the mail that it answers. */
    quoted: text().orNull(),
    html: text().orNull(),
    /** JSON, as `receiving/` writes them: fields of the header, files with their contents, results. */
    headers: text(),
    attachments: text(),
    results: text(),
  },
  { isClustered: true },
)

export interface ReceivedTextRow extends RowOf<typeof receivedTexts> {}

/**
 * Mails that were refused because of an account's plan, one row for each reason, counted since the first one of the
 * day (UTC).
 */
const refusedArrivals = table(
  'refused_arrivals',
  {
    account_id: text(),
    why: text<'hour' | 'day' | 'network' | 'size' | 'storage'>(),
    first_at: integer(),
    last_at: integer(),
    mails: integer(),
    /** When the owners were told. */
    told_at: integer().orNull(),
  },
  { primaryKey: ['account_id', 'why'], isClustered: true },
)

export interface RefusedArrivalRow extends RowOf<typeof refusedArrivals> {}

export const receivingTables = [
  receivingRules,
  received,
  receivedHeaders,
  receivedTexts,
  refusedArrivals,
] as const
