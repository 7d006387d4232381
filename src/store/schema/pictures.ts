import { integer, type RowOf, table, text } from './table.js'

/** Pictures for an account's mails. */
const pictures = table(
  'pictures',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    /** The id in its address on the public listener. */
    public_id: text().unique(),
    name: text(),
    /** What it shows, for people who do not see it. */
    alt: text(),
    content_type: text(),
    width: integer(),
    height: integer(),
    size_bytes: integer(),
    /** One use of the content. */
    content_id: integer(),
    created_at: integer(),
  },
  { indexes: { pictures_account: ['account_id', 'id'] } },
)

export interface PictureRow extends RowOf<typeof pictures> {}

export const picturesTables = [pictures] as const
