import { integer, type RowOf, table, text } from './table.js'

/** Forms by which people ask for an account's mail themselves. */
const forms = table(
  'forms',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    /** The id in the form's address, `/f/PUBLIC`. */
    public_id: text().unique(),
    name: text(),
    /** JSON, as `forms/form.ts` has it. */
    settings: text(),
    /** The version of the consent text: rises whenever that changes. */
    version: integer(),
    archived_at: integer().orNull(),
    /** Since when its confirmations bounce: the form then asks more of people who send it in. */
    careful_at: integer().orNull(),
    /** Since when so many have bounced that it sends no more. */
    stopped_at: integer().orNull(),
    shown: integer().default(0),
    sent_in: integer().default(0),
    confirmed: integer().default(0),
    held_back: integer().default(0),
    created_at: integer(),
    /** `hand`: an account's one form without a page, which asks people whom the account adds itself. */
    kind: text<'page' | 'hand'>().default('page'),
  },
  { indexes: { forms_account: ['account_id', 'id'] } },
)

export interface FormRow extends RowOf<typeof forms> {}

/** What a form has held back, by reason. */
const formHeld = table(
  'form_held',
  { form_id: text().references('forms', 'cascade'), reason: text(), held: integer() },
  { primaryKey: ['form_id', 'reason'], isClustered: true },
)

/** What happened to its confirmations, by day (since 1970, UTC). */
const formDays = table(
  'form_days',
  {
    form_id: text().references('forms', 'cascade'),
    day: integer(),
    mails: integer(),
    bounces: integer(),
    complaints: integer(),
  },
  { primaryKey: ['form_id', 'day'], isClustered: true },
)

/** Forms that have become careful or stopped and whose owners are to be told; deleted as they are. */
const formAlarms = table('form_alarms', {
  form_id: text().primaryKey().references('forms', 'cascade'),
  state: text<'careful' | 'stopped'>(),
})

/**
 * An entry that was sent in and has led to a confirmation mail. It is deleted 7 days after that, or 30 after it was
 * confirmed.
 */
const formEntries = table(
  'form_entries',
  {
    id: text().primaryKey(),
    form_id: text().references('forms', 'cascade'),
    account_id: text(),
    /** The whole address in lower case, and as it was typed. */
    address: text(),
    email: text(),
    /** JSON: what was typed and ticked. */
    fields: text(),
    /** JSON: what they agreed to, where and when. */
    consent: text(),
    state: text<'waiting' | 'confirmed'>(),
    created_at: integer(),
    confirmed_at: integer().orNull(),
    expires_at: integer(),
    /** When a reminder is due; null: no reminder is due. */
    remind_at: integer().orNull(),
  },
  {
    indexes: {
      form_entries_address: ['account_id', 'address'],
      form_entries_expiry: ['expires_at'],
      form_entries_reminder: {
        on: ['remind_at'],
        where: (row) => row('remind_at', 'is not', null),
      },
    },
  },
)

export interface FormEntryRow extends RowOf<typeof formEntries> {}

/**
 * Mails that asked for a confirmation: their bounces count for the form. A row is deleted 90 days after the mail was
 * sent.
 */
const formMails = table(
  'form_mails',
  {
    email_id: text().primaryKey(),
    form_id: text().references('forms', 'cascade'),
    sent_at: integer(),
  },
  { isClustered: true, indexes: { form_mails_age: ['sent_at'] } },
)

/** How many confirmations an address was asked for and has not given; the address is kept as a keyed hash. */
const formAddresses = table(
  'form_addresses',
  {
    account_id: text(),
    address_hash: text(),
    mails: integer(),
    last_at: integer(),
  },
  {
    primaryKey: ['account_id', 'address_hash'],
    isClustered: true,
    indexes: { form_addresses_age: ['last_at'] },
  },
)

/** How an account looks to the people who get its mail; the picture is in `account_logos`. */
const brands = table('brands', {
  account_id: text().primaryKey().references('accounts'),
  /** JSON, as `accounts/brand.ts` has it. */
  colours: text(),
  postal_address: text(),
  /** JSON: codes of languages. */
  languages: text(),
  sender_name: text(),
  default_from: text(),
  updated_at: integer(),
  /** 1: search engines may list the archive. */
  archive_listed: integer<0 | 1>().default(0),
})

export interface BrandRow extends RowOf<typeof brands> {}

export const formsTables = [
  forms,
  formHeld,
  formDays,
  formAlarms,
  formEntries,
  formMails,
  formAddresses,
  brands,
] as const
