import { integer, type RowOf, table, text } from './table.js'

/**
 * The hot table: a row for each run that has not ended. It moves to `automation_runs` when it ends. Every row has a
 * time to be looked at (`due_at`), and `held_due_at` what that was while it is held.
 */
const automationLive = table(
  'automation_live',
  {
    id: text().primaryKey(),
    account_id: text(),
    automation_id: text(),
    version: integer(),
    contact_id: text(),
    /** Where it stands: a row of `automation_steps`. */
    step_id: integer(),
    /** Rises with every change, so that a plan is written only over the state it was made from. */
    seq: integer(),
    status: text<'running' | 'waiting'>(),
    due_at: integer(),
    /** The event for which it is parked. */
    wait_event: text().orNull(),
    /** The event that has ended that wait. */
    woken_by: integer().orNull(),
    trigger_event: integer(),
    /** When it came to the delay or wait in which it still is. */
    entered_at: integer().orNull(),
    /** JSON: the last event that a wait has taken, by name. */
    heard: text().orNull(),
    /** JSON: the event that each wait has received, by the step's key, the latest last. */
    waits: text().orNull(),
    /** Why a step that is due does not run. */
    blocked: text().orNull(),
    /** Faults in a row. */
    attempts: integer(),
    /** Steps that were run and mails that were sent, against endless loops. */
    steps: integer(),
    mails: integer(),
    /** 1: it goes on when its contact unsubscribes. */
    outlives: integer<0 | 1>(),
    /** JSON, as `automations/live.ts` has it. */
    history: text(),
    started_at: integer(),
    updated_at: integer(),
    held_at: integer().orNull(),
    held_reason: text().orNull(),
    held_due_at: integer().orNull(),
  },
  {
    indexes: {
      automation_live_contact: { on: ['contact_id', 'automation_id'], isUnique: true },
      automation_live_due: ['account_id', 'due_at'],
      automation_live_wait: {
        on: ['contact_id', 'wait_event'],
        where: (row) => row('wait_event', 'is not', null),
      },
      automation_live_automation: ['automation_id', 'id'],
      // Finds the runs at a step, and how many they are.
      automation_live_step: ['automation_id', 'step_id', 'id'],
      automation_live_held: { on: ['id'], where: (row) => row('held_at', 'is not', null) },
      automation_live_blocked_account: {
        on: ['account_id', 'id'],
        where: (row) => row('blocked', 'is not', null),
      },
      automation_live_blocked: {
        on: ['blocked', 'id'],
        where: (row) => row('blocked', 'is not', null),
      },
    },
  },
)

export interface AutomationLiveRow extends RowOf<typeof automationLive> {}

/** The log: a row for each run that has ended. */
const automationRuns = table(
  'automation_runs',
  {
    id: text().primaryKey(),
    account_id: text(),
    automation_id: text(),
    version: integer(),
    /** Null once the contact was deleted. */
    contact_id: text().orNull(),
    step_id: integer(),
    status: text<'completed' | 'exited' | 'failed' | 'cancelled'>(),
    reason: text().orNull(),
    history: text(),
    started_at: integer(),
    ended_at: integer(),
  },
  {
    indexes: {
      automation_runs_automation: ['automation_id', 'id'],
      // Finds runs by how they ended, and why.
      automation_runs_why: ['automation_id', 'status', 'reason', 'id'],
      automation_runs_contact: {
        on: ['contact_id'],
        where: (row) => row('contact_id', 'is not', null),
      },
    },
  },
)

export interface AutomationRunRow extends RowOf<typeof automationRuns> {}

/** Which contacts have entered an automation, and how often. */
const automationEntries = table(
  'automation_entries',
  {
    contact_id: text(),
    automation_id: text(),
    runs: integer(),
    last_started_at: integer(),
    /** Starts less than an hour before the last (JSON array of times); null for none. */
    starts: text().orNull(),
  },
  { primaryKey: ['contact_id', 'automation_id'], isClustered: true },
)

/** Events that a live run hears at any step: those of its exit rules and its goal. */
const automationListens = table(
  'automation_listens',
  {
    contact_id: text(),
    event: text(),
    run_id: text(),
  },
  { primaryKey: ['contact_id', 'event', 'run_id'], isClustered: true },
)

/** An event that is only kept because a live run of its contact may still ask for it. */
const automationKept = table('automation_kept', {
  event_id: integer().primaryKey(),
})

/** A deleted contact, some of whose events still have to be deleted. */
const automationForgotten = table(
  'automation_forgotten',
  {
    contact_id: text().primaryKey(),
  },
  { isClustered: true },
)

export const automationRunsTables = [
  automationLive,
  automationRuns,
  automationEntries,
  automationListens,
  automationKept,
  automationForgotten,
] as const
