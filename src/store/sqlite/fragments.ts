import type { FragmentWords } from '../fragments.js'

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
  mailNumber: () => ['emails.rowid'],
  databaseClock: () => ["cast(unixepoch('subsec') * 1000 as integer)"],
}
