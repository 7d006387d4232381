import { sql, type UpdateResult } from 'kysely'
import { type AutomationStepCounts, cell, prepared, rowsOf, type Tx } from '../store/index.js'

// The counters of an automation, in the order of the rows below.
const runColumns = [
  ...(['running', 'waiting', 'completed', 'exited', 'failed', 'cancelled'] as const),
  'enrolled',
  'reached',
  ...(['by_step', 'by_event', 'by_goal'] as const),
] as const
// The counters of a step, in the order of the rows below too.
const stepColumns = [
  ...(['entered', 'done', 'skipped', 'failed', 'met', 'not_met', 'received'] as const),
  ...(['timed_out', 'mails', 'delivered', 'bounced', 'opened', 'clicked', 'unsubscribed'] as const),
  ...(['moved_away', 'moved_here'] as const),
] as const satisfies readonly (keyof AutomationStepCounts)[]

export type RunColumn = (typeof runColumns)[number]
export type StepColumn = (typeof stepColumns)[number]

/**
 * What a transaction adds to the counters of automations and of their steps; it is written at the transaction's end.
 */
export interface RunTally {
  run(automationId: string, column: RunColumn, change: number): void
  step(stepId: number, column: StepColumn, change?: number): void
  /** One statement for all automations and one for all steps. */
  write(tx: Tx): Promise<void>
}

/** An empty tally, for one transaction. */
export function makeRunTally(): RunTally {
  const runs = new Map<string, number[]>()
  const steps = new Map<number, number[]>()
  return {
    run: (id, column, change) => add(runs, id, runColumns, column, change),
    step: (id, column, change = 1) => add(steps, id, stepColumns, column, change),
    async write(tx) {
      if (runs.size > 0) await addToAutomations(tx, { json: jsonOf(runs) })
      if (steps.size > 0) await addToSteps(tx, { json: jsonOf(steps) })
    },
  }
}

/** Adds to one counter of a row. */
function add<Id, Column>(
  sums: Map<Id, number[]>,
  id: Id,
  columns: readonly Column[],
  column: Column,
  change: number,
): void {
  const row = sums.get(id) ?? columns.map(() => 0)
  const place = columns.indexOf(column)
  row[place] = (row[place] ?? 0) + change
  sums.set(id, row)
}

/** The rows in SQLite's form: an id, then a number for each column. */
const jsonOf = (sums: Map<string | number, number[]>) =>
  JSON.stringify([...sums].map(([id, row]) => [id, ...row]))

/** For `set`: each column plus its value from the row. */
const raised = (columns: readonly string[]) =>
  Object.fromEntries(
    columns.map((column, place) => [
      column,
      sql<number>`${sql.ref(column)} + ${cell(place + 1, 'integer')}`,
    ]),
  )

/** Adds to the counters of automations. */
const addToAutomations = prepared<{ json: string }, UpdateResult>((db, { json }) =>
  db
    .updateTable('automations')
    .from(rowsOf(json))
    .set(raised(runColumns))
    .where('automations.id', '=', cell(0, 'text')),
)

/** Adds to the counters of steps. */
const addToSteps = prepared<{ json: string }, UpdateResult>((db, { json }) =>
  db
    .updateTable('automation_steps')
    .from(rowsOf(json))
    .set(raised(stepColumns))
    .where('automation_steps.id', '=', cell(0, 'integer')),
)

/** The counter of a step that a line of a run's history raises. */
export function columnOf(result: string): StepColumn | undefined {
  const [kind = ''] = result.split(':')
  switch (kind) {
    case 'met':
    case 'not_met':
    case 'received':
    case 'timed_out':
    case 'skipped':
    case 'failed':
      return kind
    case 'blocked':
    case 'moved':
    case 'released':
      return undefined
    default:
      return 'done'
  }
}
