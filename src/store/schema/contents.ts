import { blob, integer, type RowOf, table, text } from './table.js'

/** A body, written once and shared by all mails with the same content (a batch, a campaign). */
const bodies = table('bodies', {
  id: integer().numberedKey(),
  html: text().orNull(),
  /** Null: made from the HTML when the message is composed. */
  text: text().orNull(),
  /** JSON, as `emails/` writes it: each attachment is a use of its content. Null: none. */
  attachments: text().orNull().unchanging(),
})

export interface BodyRow extends RowOf<typeof bodies> {}

/** Contents that an account's mails carry; their bytes are in `content_pieces`. */
const contents = table(
  'contents',
  {
    id: integer().primaryKey(),
    account_id: text(),
    sha256: blob(),
    size_bytes: integer(),
    /** How often rows of other tables name it; 0: it may be deleted. */
    uses: integer(),
  },
  {
    indexes: {
      contents_account_sha256: { on: ['account_id', 'sha256'], isUnique: true },
      contents_unused: { on: ['id'], where: (row) => row('uses', '=', 0) },
    },
  },
)

const contentPieces = table(
  'content_pieces',
  {
    content_id: integer(),
    /** From 0 on. */
    number: integer(),
    bytes: blob(),
  },
  { primaryKey: ['content_id', 'number'], isClustered: true },
)

/** A message that a program wrote as a whole; its mail has no row in `bodies`. */
const rawMessages = table(
  'raw_messages',
  {
    email_id: text().primaryKey(),
    header: blob(),
    content_id: integer(),
    body_bytes: integer(),
    body_hash: text(),
    eight_bit: integer(),
    smtp_utf8: integer(),
    /** JSON, as `emails/` writes it; null: nothing of it may be changed. */
    parts: text().orNull(),
  },
  { isClustered: true },
)

export interface RawMessageRow extends RowOf<typeof rawMessages> {}

/** The values that are merged into a mail when it leaves; deleted when its delivery has ended. */
const emailMerges = table(
  'email_merges',
  {
    email_id: text().primaryKey(),
    /** JSON. */
    variables: text(),
  },
  { isClustered: true },
)

export const contentsTables = [bodies, contents, contentPieces, rawMessages, emailMerges] as const
