import BetterSqlite3 from 'better-sqlite3'

/** The state of a database file, for a copy that nothing else has open. */
export interface Inspection {
  /** What SQLite finds wrong with the file; empty when it is sound. */
  problems: string[]
  /** The name of the last migration; undefined where there was none. */
  schema: string | undefined
  /** How many rows every table has. */
  rows: Record<string, number>
  /** Triggers and virtual tables, of which Posthorn has none: they could act on what is written and read. */
  foreign: string[]
  /** The check of the appliance key that it was made with; undefined where none was remembered. */
  keyCheck: string | undefined
}

const maxProblems = 20

/** Reads the whole file, which takes minutes for some gigabytes. Throws SQLite's error where it is not a database. */
export function inspectDatabase(file: string): Inspection {
  const raw = new BetterSqlite3(file, { fileMustExist: true, readonly: true })
  try {
    raw.pragma('cache_size = -65536')
    // Anybody may have made the file: no function in its schema may do more than compute.
    raw.pragma('trusted_schema = off')
    const foreign = raw
      .prepare<[], string>(
        "select name from sqlite_schema where type = 'trigger' or sql like 'create virtual%'",
      )
      .pluck()
      .all()
    const found = raw.prepare<[], string>(`pragma integrity_check(${maxProblems})`).pluck().all()
    const tables = raw
      .prepare<[], string>(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name",
      )
      .pluck()
      .all()
    const pluck = (sql: string) => raw.prepare<[], string>(sql).pluck().get()
    const problems = found.filter((line) => line !== 'ok')
    const nothing = { schema: undefined, rows: {}, keyCheck: undefined }
    if (problems.length > 0) return { problems, foreign, ...nothing }
    return {
      problems,
      foreign,
      schema: tables.includes('kysely_migration')
        ? pluck('select max(name) from kysely_migration')
        : undefined,
      rows: Object.fromEntries(
        tables.map((table) => [
          table,
          Number(pluck(`select count(*) from "${table.replaceAll('"', '""')}"`)),
        ]),
      ),
      keyCheck: tables.includes('appliance') ? pluck('select key_check from appliance') : undefined,
    }
  } finally {
    raw.close()
  }
}

/**
 * Makes one file of a copy and its log, and writes into it that it is a copy of that time: an appliance that starts
 * on it, however it came there, knows that its queue may have been sent since. A restore passes the `keyCheck` of its
 * key.
 */
export function sealCopy(file: string, madeAt: number, keyCheck?: string): void {
  const raw = new BetterSqlite3(file, { fileMustExist: true })
  try {
    raw.pragma('journal_mode = delete')
    raw.pragma('synchronous = full')
    if (keyCheck !== undefined) {
      raw.prepare('insert or ignore into appliance (id, key_check) values (1, ?)').run(keyCheck)
    }
    raw.prepare('update appliance set backup_made_at = ?').run(madeAt)
  } finally {
    raw.close()
  }
}
