import { sql } from 'kysely'
import { cell, prepared, rowsOf, type Tx } from '../../store/index.js'
import { historyJson } from '../runs/index.js'
import type { TakenEvent } from './store-events.js'

/** An event that starts runs of an automation's version. */
export interface Trigger {
  event: string
  automationId: string
  version: number
  name: string
}

/**
 * How often a contact has entered an automation. It outlives the runs, as `once` has to hold after
 * they are deleted.
 */
export interface Entry {
  runs: number
  lastStartedAt: number
  /** JSON: the starts less than an hour before the last one. */
  starts: string | null
}

/** A run that begins. */
export interface NewRun {
  id: string
  trigger: Trigger
  stepId: number
  event: TakenEvent
  listens: readonly string[]
  outlives: 0 | 1
}

/** The key of a contact in an automation, for maps. */
export const pairOf = ({ contactId, automationId }: { contactId: string; automationId: string }) =>
  `${contactId} ${automationId}`

/**
 * Many runs in one statement: an event with a list of 10,000 would otherwise be 10,000 statements
 * within one transaction.
 */
export async function insertRuns(
  tx: Tx,
  accountId: string,
  begun: readonly NewRun[],
  entries: ReadonlyMap<string, Entry>,
  now: number,
): Promise<void> {
  const rows = begun.map(({ id, trigger: { automationId, version }, stepId, event, outlives }) => {
    const pair = pairOf({ contactId: event.contact.id, automationId })
    const { runs = 1, starts = null } = entries.get(pair) ?? {}
    return [
      id,
      automationId,
      version,
      event.contact.id,
      stepId,
      event.stored.id,
      runs,
      starts,
      outlives,
    ]
  })
  const json = JSON.stringify(rows)
  await insertLive(tx, { json, accountId, now, history: historyJson([], now) })
  await putEntries(tx, { json, now })
  const listens = begun.flatMap(({ id, event, listens }) =>
    listens.map((name) => [event.contact.id, name, id]),
  )
  if (listens.length > 0) await insertListens(tx, { json: JSON.stringify(listens) })
}

/**
 * The rows come as JSON through `json_each`, so that the statement is prepared once for any number
 * of them.
 */
const insertLive = prepared<
  { json: string; accountId: string; now: number; history: string },
  unknown
>((db, { json, accountId, now, history }) =>
  db
    .insertInto('automation_live')
    .columns([
      ...(['id', 'account_id', 'automation_id', 'version', 'contact_id', 'step_id'] as const),
      ...(['trigger_event', 'seq', 'status', 'due_at', 'attempts', 'steps', 'mails'] as const),
      ...(['history', 'started_at', 'updated_at', 'outlives'] as const),
    ])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          cell(0, 'text').as('id'),
          eb.val(accountId).as('account_id'),
          cell(1, 'text').as('automation_id'),
          cell(2, 'integer').as('version'),
          cell(3, 'text').as('contact_id'),
          cell(4, 'integer').as('step_id'),
          cell(5, 'integer').as('trigger_event'),
          eb.lit(0).as('seq'),
          sql<'running'>`'running'`.as('status'),
          eb.val(now).as('due_at'),
          eb.lit(0).as('attempts'),
          eb.lit(0).as('steps'),
          eb.lit(0).as('mails'),
          eb.val(history).as('history'),
          eb.val(now).as('started_at'),
          eb.val(now).as('updated_at'),
          cell<0 | 1>(8, 'integer').as('outlives'),
        ]),
    ),
)

// Counts the entries, with an upsert: `where true` tells SQLite that the `on` which follows is not
// the query's join.
const putEntries = prepared<{ json: string; now: number }, unknown>((db, { json, now }) =>
  db
    .insertInto('automation_entries')
    .columns([...(['contact_id', 'automation_id', 'runs', 'last_started_at', 'starts'] as const)])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          cell(3, 'text').as('contact_id'),
          cell(1, 'text').as('automation_id'),
          cell(6, 'integer').as('runs'),
          eb.val(now).as('last_started_at'),
          cell<string | null>(7, 'text').as('starts'),
        ])
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) =>
      conflict.columns(['contact_id', 'automation_id']).doUpdateSet((eb) => ({
        runs: eb.ref('excluded.runs'),
        last_started_at: eb.ref('excluded.last_started_at'),
        starts: eb.ref('excluded.starts'),
      })),
    ),
)

/** Inserts rows of contact, event and run (JSON). */
export const insertListens = prepared<{ json: string }, unknown>((db, { json }) =>
  db
    .insertInto('automation_listens')
    .columns(['contact_id', 'event', 'run_id'])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          cell(0, 'text').as('contact_id'),
          cell(1, 'text').as('event'),
          cell(2, 'text').as('run_id'),
        ]),
    ),
)
