import { blob, integer, type RowOf, table, text } from './table.js'

/** Work of an account's that takes longer than a request: it goes on after a restart, and tells how far it is. */
const tasks = table(
  'tasks',
  {
    id: integer().numberedKey('rising'),
    account_id: text().references('accounts'),
    kind: text<'import' | 'bulk' | 'erase' | 'runs'>(),
    /** `arriving`: its file is on its way; `draft`: nobody has started it yet. */
    state: text<
      | 'arriving'
      | 'draft'
      | 'running'
      | 'paused'
      | 'stopped'
      | 'done'
      | 'failed'
      | 'undoing'
      | 'undone'
    >(),
    /** How far it is, of `total`: of an import the lines of its file. */
    done: integer(),
    total: integer(),
    /** JSON: what is to be done, as its kind has it. */
    detail: text(),
    /** JSON: what came of it so far. */
    result: text().orNull(),
    /** The user's id. */
    started_by: text(),
    /** The appliance that works at it, and has its file, where it has one. */
    node: integer().ofOwnNode(),
    begun_at: integer(),
    ended_at: integer().orNull(),
  },
  {
    indexes: {
      tasks_account: ['account_id', 'id'],
      tasks_live: { on: ['id'], where: (row) => row('ended_at', 'is', null) },
    },
  },
)

export interface TaskRow extends RowOf<typeof tasks> {}

/** The rows of a file that an import has left out. */
const importRefusals = table(
  'import_refusals',
  {
    task_id: integer().references('tasks', 'cascade'),
    line: integer(),
    reason: text(),
    /** JSON: the cells, cut where they are long. */
    cells: text(),
  },
  { primaryKey: ['task_id', 'line'], isClustered: true },
)

export interface ImportRefusalRow extends RowOf<typeof importRefusals> {}

/** Files of imports, so that any node may go on with one (`contacts/import-task/shared.ts`); none where one is alone. */
const importPieces = table(
  'import_pieces',
  {
    task_id: integer().references('tasks', 'cascade'),
    /** From 0 on. */
    at: integer(),
    /** RFC 1951. */
    bytes: blob(),
  },
  { primaryKey: ['task_id', 'at'], isClustered: true },
)

export interface ImportPieceRow extends RowOf<typeof importPieces> {}

/** Mails that an erasure comes back to: they wait for others, whom their `To` still has to name the address. */
const erasureMails = table(
  'erasure_mails',
  { task_id: integer().references('tasks', 'cascade'), email_id: text() },
  { primaryKey: ['task_id', 'email_id'], isClustered: true },
)

export const tasksTables = [tasks, importRefusals, importPieces, erasureMails] as const
