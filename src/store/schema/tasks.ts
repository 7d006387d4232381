import { blob, integer, type RowOf, table, text } from './table.js'

/** Work for an account that takes longer than a request: it goes on after a restart, and shows its progress. */
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
    /** How far it is, of `total`; for an import, in lines of its file. */
    done: integer(),
    total: integer(),
    /** JSON: what is to be done, in the form of its kind. */
    detail: text(),
    /** JSON: the result so far. */
    result: text().orNull(),
    /** The user's id. */
    started_by: text(),
    /** The node that works at it, and has its file if there is one. */
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

/**
 * Files of imports, so that any node can go on with an import (`contacts/import-task/shared.ts`); no rows where there
 * is one node.
 */
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

/**
 * Mails to which an erasure comes back: they still wait for other recipients, and their `To` has to name the address
 * until then.
 */
const erasureMails = table(
  'erasure_mails',
  { task_id: integer().references('tasks', 'cascade'), email_id: text() },
  { primaryKey: ['task_id', 'email_id'], isClustered: true },
)

export const tasksTables = [tasks, importRefusals, importPieces, erasureMails] as const
