import { sql } from 'kysely'
import type { FragmentWords } from '../fragments.js'
import type { Read } from '../schema/index.js'

/** SQLite's words of the pieces that engines say differently. Values know their type by themselves. */
export const sqliteWords: FragmentWords = {
  idsOf: () => ['(select value from json_each(', '))'],
  rowsOf: () => ['json_each(', ')'],
  cell: ({ place }) => [`line.value ->> ${place}`],
  value: () => ['', ''],
  unindexed: () => ['+', ''],
  greatest: ({ count }) => ['max(', ...new Array<string>(count - 1).fill(', '), ')'],
  contains: () => ['instr(', ', ', ') > 0'],
  likeAnyCase: () => ['', ' like ', " escape '\\'"],
}

/** The number of the row that was last put into this table, also when it is gone; 0 if there was none. */
export async function lastNumber(read: Read, table: 'webhook_jobs'): Promise<number> {
  const { rows } = await sql<{
    seq: number
  }>`select seq from sqlite_sequence where name = ${table}`.execute(read)
  return rows[0]?.seq ?? 0
}

/**
 * The number under which SQLite keeps a mail. It rises in the order in which mails were committed, which
 * their ids do not: several threads make those before it is their turn to write. A VACUUM may give other
 * numbers in the same order, so whoever keeps one keeps the mail's id beside it.
 */
export const mailNumber = sql<number>`emails.rowid`
