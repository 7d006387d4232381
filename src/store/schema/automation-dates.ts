import { integer, type RowOf, table, text } from './table.js'

/** An automation that begins on a day of a contact's field. */
const automationDates = table(
  'automation_dates',
  {
    automation_id: text().primaryKey(),
    account_id: text(),
    /** JSON, as `automations/definition/date-trigger.ts` has it. */
    rule: text(),
    /**
     * `filling`: all contacts are being looked at; `stopped`: due rows are deleted in slices, and then it is `idle`;
     * `ended`: all rows are deleted, and then this one.
     */
    state: text<'filling' | 'current' | 'stopped' | 'idle' | 'ended'>(),
    /** The id of the contact up to whom contacts were looked at. */
    cursor: text(),
    /** Goes up when the rule or the state changes, so that nothing is written by an older one. */
    revision: integer(),
  },
  {
    indexes: {
      automation_dates_account: ['account_id', 'state', 'automation_id'],
      automation_dates_state: ['state', 'automation_id'],
    },
  },
)

export interface AutomationDateRow extends RowOf<typeof automationDates> {}

/** When such an automation begins for a contact, and the day for which it last did: for nobody twice in a year. */
const automationDateDue = table(
  'automation_date_due',
  {
    automation_id: text(),
    contact_id: text(),
    at: integer().orNull(),
    /** As `2026-02-28`. */
    done: text().orNull(),
  },
  {
    primaryKey: ['automation_id', 'contact_id'],
    isClustered: true,
    indexes: {
      automation_date_due_at: ['at', 'automation_id', 'contact_id'],
      automation_date_due_contact: ['contact_id', 'automation_id'],
    },
  },
)

export const automationDatesTables = [automationDates, automationDateDue] as const
