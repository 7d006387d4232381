import BetterSqlite3 from 'better-sqlite3'

export type RawDatabase = BetterSqlite3.Database

export interface ConnectionOptions {
  readonly?: boolean
  /** How long SQLite may block this thread while another *process* writes (threads take turns). */
  busyTimeoutMs: number
  /** Pages that the connection keeps in memory, in units of 1,024 bytes. */
  cacheKb?: number
}

/**
 * Opens with `synchronous = full`, because "normal" would lose the last commits at a power cut in WAL mode (SQLite,
 * PRAGMA synchronous). The writer of the group commit sets it to "normal" afterwards, as it does its own syncs
 * (`log-sync.ts`).
 */
export function openConnection(file: string, options: ConnectionOptions): RawDatabase {
  const raw = new BetterSqlite3(file, { timeout: options.busyTimeoutMs })
  // Only before the first page is made. On a file with pages it would wait for the writer's lock at every opening,
  // and change nothing.
  if (raw.pragma('page_count', { simple: true }) === 0) raw.pragma('auto_vacuum = incremental')
  raw.pragma('journal_mode = wal')
  raw.pragma('synchronous = full')
  raw.pragma('foreign_keys = on')
  raw.pragma(`cache_size = -${options.cacheKb ?? 32_000}`)
  raw.pragma('temp_store = memory')
  // 128 MB: the checkpoint thread has copied most of it by then, so that the writer, which is held up
  // by its own checkpoint, has the last second's pages left to copy before the log starts anew.
  raw.pragma('wal_autocheckpoint = 32000')
  if (options.readonly) raw.pragma('query_only = on')
  return raw
}
