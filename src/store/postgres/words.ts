import type { FragmentWords, ValueTypes } from '../fragments.js'

/**
 * PostgreSQL's words for the pieces in which engines differ. It takes a value of unknown type for a text, and
 * compares no text with a number.
 */
export const postgresWords: FragmentWords = {
  idsOf: ({ type }) => [
    `(select value${castTo(type)} from jsonb_array_elements_text(cast(`,
    ' as jsonb)))',
  ],
  rowsOf: () => ['jsonb_array_elements(cast(', ' as jsonb))'],
  cell: ({ type, place }) => [`(line.value ->> ${place})${castTo(type)}`],
  value: ({ type }) => ['cast(', type === 'text' ? ' as text)' : ' as bigint)'],
  // A transaction that inserts a row that refers to one of them need not wait.
  locked: () => ['for no key update'],
  lockedFree: () => ['for no key update skip locked'],
  // The connection tells it, so that no statement on the path of every mail has to; 1 for a process that is not an
  // appliance.
  ownNode: () => ["coalesce(current_setting('posthorn.node', true), '1')::bigint"],
  ofAnyNode: () => [`queue.node in (${nodeNumbers})`],
  // Its planner knows from statistics which index is the long way.
  unindexed: () => ['', ''],
  greatest: ({ count }) => among('greatest', count),
  least: ({ count }) => among('least', count),
  contains: () => ['strpos(', ', ', ') > 0'],
  likeAnyCase: () => ['', ' ilike ', " escape '\\'"],
  mailNumber: () => ['emails.number'],
  rareStatus: () => ['emails.rare_status'],
  tableEnd: () => [''],
  databaseClock: () => ['cast(extract(epoch from clock_timestamp()) * 1000 as bigint)'],
  // The asking transaction has a number, which counts as ended where a later one has already ended.
  endedTransactions: () => [
    `(select pg_snapshot_xmax(seen)::text::bigint - (select count(*) from pg_snapshot_xip(seen))
      - case when pg_current_xact_id() < pg_snapshot_xmax(seen) then 1 else 0 end
      from (select pg_current_snapshot() as seen) as now)`,
  ],
}

// 1 to 31, the nodes for which `writersOfNode` has numbers.
const nodeNumbers = Array.from({ length: 31 }, (_, at) => at + 1).join()

const castTo = (type: keyof ValueTypes) => (type === 'text' ? '' : '::bigint')

const among = (name: string, count: number) => [
  `${name}(`,
  ...new Array<string>(count - 1).fill(', '),
  ')',
]
