import { integer, type RowOf, table, text, type ValuesOf } from './table.js'

/** An automation, with counters that change in the same transaction as what they count. */
const automations = table(
  'automations',
  {
    id: text().primaryKey(),
    account_id: text(),
    name: text(),
    status: text<'disabled' | 'enabled' | 'archived'>(),
    /** The version of the definition that is shown and edited; `automation_triggers` has the one that starts runs. */
    version: integer(),
    /** The automation's runs, by their state. */
    running: integer(),
    waiting: integer(),
    completed: integer(),
    exited: integer(),
    failed: integer(),
    cancelled: integer(),
    /** Contacts who have ever entered it. */
    enrolled: integer(),
    /** How often its goal was reached. */
    reached: integer().default(0),
    /** How many `exited` runs were ended by a step, by an event of its exit rules, and by the goal. */
    by_step: integer().default(0),
    by_event: integer().default(0),
    by_goal: integer().default(0),
    created_at: integer(),
    updated_at: integer(),
    /** The operator's or the account's pause: its runs are held meanwhile. */
    paused_at: integer().orNull(),
    /** How its held runs are released since it was resumed; null once all are. */
    releasing: text<'shift' | 'now' | 'skip'>().orNull(),
    /** When some runs were last released. */
    releasing_at: integer().orNull(),
    /** The sender of a new mail while no other step sends yet; null: the account's usual sender. */
    usual_from: text().orNull(),
  },
  {
    indexes: {
      automations_account: ['account_id', 'id'],
      // An archived one whose runs are not all cancelled yet.
      automations_ending: {
        on: ['id'],
        where: (row) =>
          row.and([
            row('status', '=', 'archived'),
            row(row('running', '+', row.ref('waiting')), '>', 0),
          ]),
      },
      automations_releasing: {
        on: ['releasing_at'],
        where: (row) => row('releasing_at', 'is not', null),
      },
    },
  },
)

export interface AutomationRow extends RowOf<typeof automations> {}

const automationVersions = table(
  'automation_versions',
  {
    automation_id: text(),
    version: integer(),
    /** JSON, as `automations/definition.ts` has it. */
    definition: text(),
    /** Since when the version never changes; its steps then have rows of their own. */
    frozen_at: integer().orNull(),
  },
  { primaryKey: ['automation_id', 'version'] },
)

/** The draft of an automation, which may still have faults; the version stays as it is. */
const automationDrafts = table('automation_drafts', {
  automation_id: text().primaryKey(),
  account_id: text(),
  name: text(),
  /** JSON, of any shape that `outlineOf` can read. */
  definition: text(),
  /** Goes up with each change, so that two people who edit at once are told of each other. */
  revision: integer(),
  changed_at: integer(),
})

/**
 * What has happened at a step, and to the mails that it sent. These are columns, because to count a million runs for
 * a page would take seconds.
 */
const automationStepCounts = {
  entered: integer(),
  done: integer(),
  skipped: integer(),
  failed: integer(),
  met: integer(),
  not_met: integer(),
  received: integer(),
  timed_out: integer(),
  mails: integer(),
  delivered: integer(),
  bounced: integer(),
  opened: integer(),
  clicked: integer(),
  unsubscribed: integer(),
  /** Runs that a move took to another version, and runs that a move brought here, which also count as entered. */
  moved_away: integer().default(0),
  moved_here: integer().default(0),
}

export interface AutomationStepCounts extends ValuesOf<typeof automationStepCounts> {}

/** A step of a frozen version, with counters. */
const automationSteps = table(
  'automation_steps',
  {
    id: integer().primaryKey(),
    automation_id: text(),
    version: integer(),
    key: text(),
    type: text(),
    ...automationStepCounts,
  },
  {
    indexes: {
      automation_steps_version: { on: ['automation_id', 'version', 'key'], isUnique: true },
    },
  },
)

export interface AutomationStepRow extends RowOf<typeof automationSteps> {}

/** Which enabled automations an event starts, in which version. */
const automationTriggers = table(
  'automation_triggers',
  {
    account_id: text(),
    event: text(),
    automation_id: text(),
    version: integer(),
  },
  { primaryKey: ['account_id', 'event', 'automation_id'], isClustered: true },
)

/** The events of a contact; rows are only added at the end. */
const automationEvents = table(
  'automation_events',
  {
    /** Rises in the order in which events were committed. */
    id: integer().numberedKey(),
    account_id: text(),
    contact_id: text(),
    name: text(),
    /** JSON. */
    payload: text().orNull(),
    at: integer(),
    /** When it happened, where the client says so. */
    occurred_at: integer().orNull(),
    /** How many automations' mails in a row have led to the event; 0 for a client's own event. */
    depth: integer(),
  },
  { indexes: { automation_events_contact: ['contact_id', 'name', 'id'] } },
)

/** Mails that an automation with `settings.maxPerHour` has made in a minute (since 1970), and when the last. */
const automationHours = table(
  'automation_hours',
  {
    automation_id: text(),
    minute: integer(),
    mails: integer(),
    last_at: integer(),
  },
  { primaryKey: ['automation_id', 'minute'], isClustered: true },
)

/** A start of an automation for the contacts of a list or a segment, so many an hour. */
const automationBackfills = table('automation_backfills', {
  automation_id: text().primaryKey(),
  account_id: text(),
  /** The id of the list, or of the segment. */
  list_id: text(),
  is_segment: integer<0 | 1>().default(0),
  per_hour: integer(),
  /** The contact up to whom the list was gone through. */
  cursor: text(),
  seen: integer(),
  started: integer(),
  /** When the next contacts are looked at. */
  next_at: integer(),
  created_at: integer(),
  /** When the end of the list was reached. */
  ended_at: integer().orNull(),
})

export interface AutomationBackfillRow extends RowOf<typeof automationBackfills> {}

export const automationsTables = [
  automations,
  automationVersions,
  automationDrafts,
  automationSteps,
  automationTriggers,
  automationEvents,
  automationHours,
  automationBackfills,
] as const
