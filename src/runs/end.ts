import { type AutomationRunRow, cell, idsOf, prepared, rowsOf, type Tx } from '../store/index.js'
import type { RunTally } from './tally.js'

/** How a run may end. */
export type EndStatus = AutomationRunRow['status']

/** The end of a live run, with all that is recorded about it. */
export interface Ending {
  id: string
  stepId: number
  status: EndStatus
  reason: string | null
  /** JSON: an array of [step, ms since the start, result, the mail's or the event's id]. */
  history: string
}

/**
 * Moves runs to the log, each with its end, inside the transaction of what ended them. A run that has already ended is
 * left alone. Resolves with the ids of the moved runs.
 */
export async function endRuns(
  tx: Tx,
  endings: readonly Ending[],
  { at, tally }: { at: number; tally: RunTally },
): Promise<Set<string>> {
  if (endings.length === 0) return new Set()
  const rows = endings.map((end) => [end.id, end.stepId, end.status, end.reason, end.history])
  await copyToLog(tx, { json: JSON.stringify(rows), at })
  const ids = JSON.stringify(endings.map(({ id }) => id))
  await forgetListens(tx, { ids })
  const gone = await removeLive(tx, { ids })
  const ended = new Map(endings.map((end) => [end.id, end]))
  for (const { id, automationId, status } of gone) {
    tally.run(automationId, status, -1)
    tally.run(automationId, ended.get(id)?.status ?? 'cancelled', 1)
  }
  return new Set(gone.map(({ id }) => id))
}

/**
 * Writes the ended runs, with what their live rows say. A run that is no longer live has no row to
 * join.
 */
const copyToLog = prepared<{ json: string; at: number }, unknown>((db, { json, at }) =>
  db
    .insertInto('automation_runs')
    .columns([
      ...(['id', 'account_id', 'automation_id', 'version', 'contact_id', 'step_id'] as const),
      ...(['status', 'reason', 'history', 'started_at', 'ended_at'] as const),
    ])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .innerJoin('automation_live as live', (join) => join.on('live.id', '=', cell(0, 'text')))
        .select(['live.id', 'account_id', 'automation_id', 'version', 'contact_id'])
        .select([
          cell(1, 'integer').as('step_id'),
          cell<'completed'>(2, 'text').as('status'),
          cell<string | null>(3, 'text').as('reason'),
          cell(4, 'text').as('history'),
          'started_at',
          eb.val(at).as('ended_at'),
        ]),
    ),
)

/** The events that these runs listened to. */
const forgetListens = prepared<{ ids: string }, unknown>((db, { ids }) =>
  db
    .deleteFrom('automation_listens')
    .where('run_id', 'in', idsOf(ids, 'text'))
    // The index begins with the contact.
    .where('contact_id', 'in', (eb) =>
      eb.selectFrom('automation_live').select('contact_id').where('id', 'in', idsOf(ids, 'text')),
    ),
)

/** A live run that was removed. */
interface Removed {
  id: string
  automationId: string
  status: 'running' | 'waiting'
}

/** Removes live runs, and returns those that existed. */
const removeLive = prepared<{ ids: string }, Removed>((db, { ids }) =>
  db
    .deleteFrom('automation_live')
    .where('id', 'in', idsOf(ids, 'text'))
    .returning(['id', 'automation_id as automationId', 'status']),
)

/** The columns of a live row that ending it needs. */
export interface EndingRow {
  id: string
  step_id: number
  history: string
  started_at: number
}

/** The end of a run that something outside it has ended; its last line says why. */
export function endingOf(row: EndingRow, status: EndStatus, reason: string, at: number): Ending {
  const line = [row.step_id, at - row.started_at, `ended:${reason}`]
  const history = JSON.stringify([...linesOf(row.history), line])
  return { id: row.id, stepId: row.step_id, status, reason, history }
}

/**
 * The lines of a run's history; none where it is broken: a bounce, an unsubscribe or the run's own fault that ends the
 * run must not fail because of that.
 */
export function linesOf(history: string): unknown[] {
  try {
    const lines: unknown = JSON.parse(history)
    return Array.isArray(lines) ? lines : []
  } catch {
    return []
  }
}
