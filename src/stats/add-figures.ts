import { sql } from 'kysely'
import { type FigureCounts, type FigureRow, prepared, type Tx } from '../store/index.js'

/** All that is counted. */
export type Counts = FigureCounts
/** The name of a counter. */
type Counter = keyof FigureCounts

/** Nothing counted yet. */
export const noCounts = (): Counts => ({
  mails: 0,
  accepted: 0,
  suppressed: 0,
  answered: 0,
  delivered: 0,
  relayed: 0,
  bounced_hard: 0,
  bounced_soft: 0,
  failed: 0,
  deferred: 0,
  complained: 0,
  complained_unproved: 0,
  unsubscribed: 0,
  opened: 0,
  opened_unique: 0,
  opened_machine: 0,
  clicked: 0,
  clicked_unique: 0,
  clicked_machine: 0,
})

/** All counters, in the order of the table. */
export const counters = Object.keys(noCounts()) as Counter[]

/** Adds to `counts` in place. */
export function addTo(counts: Counts, added: Partial<Counts>): void {
  for (const counter of counters) counts[counter] += added[counter] ?? 0
}

/** Adds to `counts` in place where only a few counters are given, as for one happening. */
export function addSome(counts: Counts, added: Partial<Counts>): void {
  let counter: Counter
  for (counter in added) counts[counter] += added[counter] ?? 0
}

/** The key that all keys beyond the bound share, and beyond twice the bound all domains too. */
export const others = '*'

// How many rows an account has for a day and breakdown, however many campaigns, providers, tag values or domains
// there are.
const maxKeys = 200

/** Adds rows of `tally` to the figures. */
export async function addFigures(tx: Tx, rows: readonly FigureRow[]): Promise<void> {
  const known = new Map<string, Set<string>>()
  const bounded = new Map<string, FigureRow>()
  for (const row of rows) {
    const day = JSON.stringify([row.account_id, row.breakdown, row.day])
    const keys = known.get(day) ?? new Set((await keysOf(tx, row)).map(keyOf))
    known.set(day, keys)
    const within = withinBound(keys, row)
    keys.add(keyOf(within))
    const place = day + keyOf(within)
    const same = bounded.get(place)
    if (same === undefined) bounded.set(place, { ...within })
    else addTo(same, within)
  }
  for (const row of bounded.values()) await addRow(tx, row)
}

/** The row under its own key while the day has room, else under the shared one. */
function withinBound(keys: ReadonlySet<string>, row: FigureRow): FigureRow {
  if (keys.size < maxKeys || keys.has(keyOf(row))) return row
  // Mail without a campaign must not count as a campaign beyond the bound.
  const key = row.breakdown === 'broadcast' && row.key === '' ? '' : others
  const shared = { ...row, key }
  if (keys.size < 2 * maxKeys || keys.has(keyOf(shared))) return shared
  return { ...shared, domain: others }
}

/** What distinguishes the rows of one day. */
type Key = Pick<FigureRow, 'domain' | 'type' | 'key'>
/** As a text to compare. */
const keyOf = ({ domain, type, key }: Key) => JSON.stringify([domain, type, key])

/** A day of one account and breakdown. */
type Day = Pick<FigureRow, 'account_id' | 'breakdown' | 'day'>

/** The keys that the day already has, found by the beginning of the primary key. */
const keysOf = prepared<Day, Key>((db, { account_id, breakdown, day }) =>
  db
    .selectFrom('figures')
    .select(['domain', 'type', 'key'])
    .where('account_id', '=', account_id)
    .where('breakdown', '=', breakdown)
    .where('day', '=', day),
)

const columns = ['account_id', 'breakdown', 'day', 'domain', 'type', 'key'] as const

/** Makes a row, or adds to it. */
const addRow = prepared<FigureRow, unknown>((db, row) => {
  const names = [...columns, ...counters]
  const values = Object.fromEntries(names.map((name) => [name, row[name]]))
  return db
    .insertInto('figures')
    .values(values as unknown as FigureRow)
    .onConflict((conflict) =>
      conflict
        .columns(columns)
        .doUpdateSet(
          Object.fromEntries(
            counters.map((counter) => [
              counter,
              sql`${sql.ref(`figures.${counter}`)} + ${sql.ref(`excluded.${counter}`)}`,
            ]),
          ),
        ),
    )
})
