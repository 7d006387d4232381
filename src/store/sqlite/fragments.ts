import type { FragmentWords } from '../fragments.js'

/** SQLite's words for the pieces in which engines differ. Values know their type by themselves. */
export const sqliteWords: FragmentWords = {
  idsOf: () => ['(select value from json_each(', '))'],
  rowsOf: () => ['json_each(', ')'],
  cell: ({ place }) => [`line.value ->> ${place}`],
  value: () => ['', ''],
  locked: () => [''],
  lockedFree: () => [''],
  ownNode: () => ['1'],
  ofAnyNode: () => ['queue.node = 1'],
  unindexed: () => ['+', ''],
  greatest: ({ count }) => among('max', count),
  least: ({ count }) => among('min', count),
  contains: () => ['instr(', ', ', ') > 0'],
  likeAnyCase: () => ['', ' like ', " escape '\\'"],
  mailNumber: () => ['emails.rowid'],
  rareStatus: () => ['emails.status'],
  tableEnd: ({ isClustered }) => [isClustered ? 'strict, without rowid' : 'strict'],
  databaseClock: () => ["cast(unixepoch('subsec') * 1000 as integer)"],
  endedTransactions: () => ['0'],
}

const among = (name: string, count: number) => [
  `${name}(`,
  ...new Array<string>(count - 1).fill(', '),
  ')',
]
