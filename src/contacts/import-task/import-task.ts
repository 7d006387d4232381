import type { Plans } from '../../billing/index.js'
import { dayMs, isRecent } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import type { Read } from '../../store/index.js'
import { type AccountTask, findTask, listTasks } from '../../tasks/index.js'
import type { KnownPolicy } from '../bulk.js'
import type { Importer } from '../importer.js'
import type { ContactDeps } from '../list.js'
import type { Mapping } from '../mapping.js'
import type { KeptFile } from './files.js'
import type { ImportResult } from './progress.js'

/** What imports as tasks need. */
export interface ImportTaskDeps extends ContactDeps {
  plans: Plans
  importer: Importer
  dataDir: string
  /** Several nodes work together: the database also keeps the file of an import. */
  sharesFiles: boolean
  /** The country of phone numbers without an international prefix; ISO 3166. */
  defaultCountry: string
  log: Log
  /** Called once people are in, for what follows from that. */
  followed?: () => void
  /** Throws a 503 where automations have no room for more people. */
  checkRoom: () => Promise<void>
}

/** What somebody says about a file before it is imported. */
export interface ImportOrder {
  listId: string
  mapping: Mapping
  known: KnownPolicy
  /** How its people agreed to get mail. */
  agreed: string
  /** Whether automations start for them. */
  trigger: boolean
  /** ISO 3166-1: of phone numbers that name none; absent: the appliance's. */
  country?: string
}

/** What an import's task has in `detail`. */
export interface ImportDetail extends KeptFile {
  filename: string
  order?: ImportOrder
  /** The last row of the consent record before it began; absent in imports of former versions. */
  consentBefore?: number
}

/** An import as its pages see it. */
export interface ImportTask extends Omit<AccountTask, 'detail' | 'result'> {
  detail: ImportDetail
  result: Partial<ImportResult>
}

/** How far an import is, in lines; the one that names the columns is none of them, once somebody has said that there is one. */
export function linesOf({ done, total, detail }: Pick<ImportTask, 'done' | 'total' | 'detail'>): {
  done: number
  total: number
} {
  const named = detail.order?.mapping.hasHeader ? 1 : 0
  return { done: Math.max(0, done - named), total: Math.max(0, total - named) }
}

const undoableMs = 7 * dayMs

/** Throws a 404 unless the account has it. */
export async function findImport(read: Read, accountId: string, id: number): Promise<ImportTask> {
  const task = await findTask(read, accountId, id)
  if (task.kind !== 'import') throw new ApiError('not_found', 'The task is no import')
  return task as unknown as ImportTask
}

/** The latest imports of an account, the newest first. */
export const listImports = async (
  read: Read,
  accountId: string,
  limit: number,
): Promise<ImportTask[]> =>
  (await listTasks(read, accountId, 'import', limit)) as unknown as ImportTask[]

/** Whether an import can be undone at this time. */
export const isUndoable = (
  { state, begunAt, endedAt }: Pick<AccountTask, 'state' | 'begunAt' | 'endedAt'>,
  now: number,
) => ['done', 'stopped', 'failed'].includes(state) && isRecent(endedAt ?? begunAt, now, undoableMs)
