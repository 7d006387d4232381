import { integer, type RowOf, table, text } from './table.js'

const contacts = table(
  'contacts',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    /** The whole address in lower case: an account has one contact for an address. */
    address: text(),
    /** The address as it was added. */
    email: text(),
    first_name: text().orNull(),
    last_name: text().orNull(),
    /** Both names, and then the last name alone, in lower case, for searches. Null: there is none, or no other. */
    name_key: text().orNull(),
    last_name_key: text().orNull(),
    /** E.164. */
    phone: text().orNull(),
    /** JSON. */
    metadata: text().orNull(),
    created_at: integer(),
    /** When others last changed the fields by a request, a page, a command or an import; null: never. */
    changed_at: integer().orNull(),
    /** In which part of the indexes of names and numbers it is found (`contacts/shelf.ts`), from 0 on. */
    shelf: integer().default(0),
  },
  {
    unique: [['account_id', 'address']],
    indexes: {
      contacts_newest: ['account_id', 'id'],
      contacts_phone: {
        on: ['account_id', 'shelf', 'phone', 'created_at', 'id'],
        where: (row) => row('phone', 'is not', null),
      },
      contacts_name: {
        on: ['account_id', 'shelf', 'name_key', 'id'],
        where: (row) => row('name_key', 'is not', null),
      },
      contacts_last_name: {
        on: ['account_id', 'shelf', 'last_name_key', 'id'],
        where: (row) => row('last_name_key', 'is not', null),
      },
    },
  },
)

/** A contact as it is read: with the value of the column that an insert need not name. */
export interface ContactRow extends Omit<RowOf<typeof contacts>, 'shelf'> {
  shelf: number
}

const contactLists = table(
  'contact_lists',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    name: text(),
    created_at: integer(),
    contact_count: integer().default(0),
    /** Whether somebody who is put on it is asked by mail first. */
    double_opt_in: integer<0 | 1>().default(0),
    /** Since when the list's contacts are being removed; nobody sees the list any more. */
    deleted_at: integer().orNull(),
  },
  {
    indexes: {
      contact_lists_account: {
        on: ['account_id', 'created_at', 'id'],
        where: (row) => row('deleted_at', 'is', null),
      },
    },
  },
)

export interface ContactListRow extends RowOf<typeof contactLists> {}

/** The contacts of a list. The key is the order in which pages of a list are read: newest contact first (UUIDv7). */
const listMembers = table(
  'list_members',
  {
    list_id: text().references('contact_lists'),
    contact_id: text().references('contacts'),
    added_at: integer(),
    /** The import that put the contact there, and the line of its file; null for any other way. */
    import_id: integer().orNull(),
    line: integer().orNull(),
  },
  {
    primaryKey: ['list_id', 'contact_id'],
    isClustered: true,
    indexes: { list_members_contact: ['contact_id'] },
  },
)

/** How many joined and left a list on a day, for days on which somebody did; days are counted since 1970, UTC. */
const listDays = table(
  'list_days',
  {
    list_id: text().references('contact_lists'),
    day: integer(),
    joined: integer(),
    gone: integer(),
  },
  { primaryKey: ['list_id', 'day'], isClustered: true },
)

/** How many contacts an account holds. */
const contactTotals = table('contact_totals', {
  account_id: text().primaryKey().references('accounts'),
  contacts: integer(),
})

/**
 * An account's own labels for the keys of its contacts' metadata, or for their names, and what people may type there.
 */
const contactFields = table(
  'contact_fields',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    name: text(),
    /** The name as it is compared, whatever its case. */
    name_key: text(),
    label: text(),
    /** `text`, `number`, `date`, `choice`. */
    type: text(),
    /** JSON; an empty list for other types than `choice`. */
    choices: text(),
    position: integer(),
    recipients_may_edit: integer(),
    created_at: integer(),
  },
  { unique: [['account_id', 'name_key']] },
)

export interface ContactFieldRow extends RowOf<typeof contactFields> {}

const contactImports = table('contact_imports', {
  id: integer().numberedKey('rising'),
  account_id: text(),
  list_id: text(),
  /** The file's name on the client's side. */
  file: text(),
  started_at: integer(),
  /** How its people agreed to get mail, in the words of the person who imported them. */
  agreed: text().orNull(),
})

/**
 * What an address agreed to or took back; rows are only added, and outlive the contact, the list and the mail. How an
 * import brought somebody is kept with the membership while that lasts, and copied here when it ends: a row for each
 * of a million contacts would take as long as the rest of the import.
 */
const consent = table(
  'consent',
  {
    id: integer().numberedKey('rising'),
    account_id: text(),
    /** The whole address in lower case. */
    address: text(),
    at: integer(),
    kind: text(),
    /** JSON, as `consent/history.ts` has it. */
    detail: text(),
  },
  { indexes: { consent_address: ['account_id', 'address'] } },
)

/** The names of deleted lists and segments, for the campaigns that went to them. */
const goneNames = table(
  'gone_names',
  { id: text().primaryKey(), account_id: text(), name: text() },
  { isClustered: true },
)

export const contactsTables = [
  contacts,
  contactLists,
  listMembers,
  listDays,
  contactTotals,
  contactFields,
  contactImports,
  consent,
  goneNames,
] as const
