import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** Automations: their versions and steps, what was heard of contacts, and the runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addDefinitions(db)
  await addEvents(db)
  await addRuns(db)
  await addForgotten(db)
  await addMail(db)
}

/**
 * What an automation is: its name and status, its versions as they were written, and the counters
 * of its steps. The counters are columns, because counting a million runs for a page would take
 * seconds.
 */
async function addDefinitions({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('automations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('running', 'integer', (c) => c.notNull())
    .addColumn('waiting', 'integer', (c) => c.notNull())
    .addColumn('completed', 'integer', (c) => c.notNull())
    .addColumn('exited', 'integer', (c) => c.notNull())
    .addColumn('failed', 'integer', (c) => c.notNull())
    .addColumn('cancelled', 'integer', (c) => c.notNull())
    .addColumn('enrolled', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('updated_at', 'integer', (c) => c.notNull())
    .addColumn('paused_at', 'integer')
    .addColumn('hour_from', 'integer', (c) => c.notNull())
    .addColumn('hour_mails', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('automations_account')
    .on('automations')
    .columns(['account_id', 'id'])
    .execute()
  // An archived one whose runs are not all cancelled yet is found without looking at the others.
  await schema
    .createIndex('automations_ending')
    .on('automations')
    .column('id')
    .where(sql.ref('status'), '=', 'archived')
    .where(sql<number>`running + waiting`, '>', 0)
    .execute()
  await schema
    .createTable('automation_versions')
    .addColumn('automation_id', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('definition', 'text', (c) => c.notNull())
    .addColumn('frozen_at', 'integer')
    .addPrimaryKeyConstraint('automation_versions_pk', ['automation_id', 'version'])
    .modifyEnd(strict)
    .execute()
  await schema
    .createTable('automation_steps')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('automation_id', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('entered', 'integer', (c) => c.notNull())
    .addColumn('done', 'integer', (c) => c.notNull())
    .addColumn('skipped', 'integer', (c) => c.notNull())
    .addColumn('failed', 'integer', (c) => c.notNull())
    .addColumn('met', 'integer', (c) => c.notNull())
    .addColumn('not_met', 'integer', (c) => c.notNull())
    .addColumn('received', 'integer', (c) => c.notNull())
    .addColumn('timed_out', 'integer', (c) => c.notNull())
    .addColumn('mails', 'integer', (c) => c.notNull())
    .addColumn('delivered', 'integer', (c) => c.notNull())
    .addColumn('bounced', 'integer', (c) => c.notNull())
    .addColumn('opened', 'integer', (c) => c.notNull())
    .addColumn('clicked', 'integer', (c) => c.notNull())
    .addColumn('unsubscribed', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('automation_steps_version')
    .unique()
    .on('automation_steps')
    .columns(['automation_id', 'version', 'key'])
    .execute()
  await schema
    .createTable('automation_triggers')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('automation_id', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('automation_triggers_pk', ['account_id', 'event', 'automation_id'])
    .modifyEnd(sql`${withoutRowid}, ${strict}`)
    .execute()
}

/** Events of contacts in the order of their numbers, which waits look along. */
async function addEvents({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('automation_events')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('contact_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('payload', 'text')
    .addColumn('at', 'integer', (c) => c.notNull())
    .addColumn('occurred_at', 'integer')
    .addColumn('depth', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('automation_events_contact')
    .on('automation_events')
    .columns(['contact_id', 'name', 'id'])
    .execute()
}

/**
 * Live runs and ended ones are two tables: the live one is small, is written at every step and has
 * the indexes that the engine asks; the other only grows.
 */
async function addRuns({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('automation_live')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('automation_id', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('contact_id', 'text', (c) => c.notNull())
    .addColumn('step_id', 'integer', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('due_at', 'integer', (c) => c.notNull())
    .addColumn('wait_event', 'text')
    .addColumn('woken_by', 'integer')
    .addColumn('trigger_event', 'integer', (c) => c.notNull())
    .addColumn('entered_at', 'integer')
    .addColumn('heard', 'text')
    .addColumn('waits', 'text')
    .addColumn('blocked', 'text')
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('steps', 'integer', (c) => c.notNull())
    .addColumn('mails', 'integer', (c) => c.notNull())
    .addColumn('outlives', 'integer', (c) => c.notNull())
    .addColumn('history', 'text', (c) => c.notNull())
    .addColumn('started_at', 'integer', (c) => c.notNull())
    .addColumn('updated_at', 'integer', (c) => c.notNull())
    .addColumn('held_at', 'integer')
    .addColumn('held_reason', 'text')
    .addColumn('held_due_at', 'integer')
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('automation_live_contact')
    .unique()
    .on('automation_live')
    .columns(['contact_id', 'automation_id'])
    .execute()
  await schema
    .createIndex('automation_live_due')
    .on('automation_live')
    .columns(['account_id', 'due_at'])
    .execute()
  await schema
    .createIndex('automation_live_wait')
    .on('automation_live')
    .columns(['contact_id', 'wait_event'])
    .where(sql.ref('wait_event'), 'is not', null)
    .execute()
  await schema
    .createIndex('automation_live_automation')
    .on('automation_live')
    .columns(['automation_id', 'id'])
    .execute()
  await schema
    .createTable('automation_runs')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('automation_id', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('contact_id', 'text')
    .addColumn('step_id', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('reason', 'text')
    .addColumn('history', 'text', (c) => c.notNull())
    .addColumn('started_at', 'integer', (c) => c.notNull())
    .addColumn('ended_at', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await schema
    .createIndex('automation_runs_automation')
    .on('automation_runs')
    .columns(['automation_id', 'id'])
    .execute()
  await schema
    .createIndex('automation_runs_contact')
    .on('automation_runs')
    .column('contact_id')
    .where(sql.ref('contact_id'), 'is not', null)
    .execute()
  await schema
    .createTable('automation_entries')
    .addColumn('contact_id', 'text', (c) => c.notNull())
    .addColumn('automation_id', 'text', (c) => c.notNull())
    .addColumn('runs', 'integer', (c) => c.notNull())
    .addColumn('last_started_at', 'integer', (c) => c.notNull())
    .addColumn('hour_at', 'integer', (c) => c.notNull())
    .addColumn('hour_runs', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('automation_entries_pk', ['contact_id', 'automation_id'])
    .modifyEnd(sql`${withoutRowid}, ${strict}`)
    .execute()
  await schema
    .createTable('automation_listens')
    .addColumn('contact_id', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('automation_listens_pk', ['contact_id', 'event', 'run_id'])
    .modifyEnd(sql`${withoutRowid}, ${strict}`)
    .execute()
}

/** Contacts who are deleted, some of whose events are still there. */
async function addForgotten({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('automation_forgotten')
    .addColumn('contact_id', 'text', (c) => c.primaryKey())
    .modifyEnd(sql`${withoutRowid}, ${strict}`)
    .execute()
}

/** What was known at the step is merged into its mail when that leaves. */
async function addMail({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('email_merges')
    .addColumn('email_id', 'text', (c) => c.primaryKey())
    .addColumn('variables', 'text', (c) => c.notNull())
    .modifyEnd(sql`${withoutRowid}, ${strict}`)
    .execute()
  await schema.alterTable('emails').addColumn('automation_step_id', 'integer').execute()
  await schema.alterTable('template_versions').addColumn('body_id', 'integer').execute()
}
