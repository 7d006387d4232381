import { sql } from 'kysely'
import {
  type BroadcastHourRow,
  type BroadcastProviderRow,
  type FigureCounts,
  prepared,
  type Tx,
} from '../../store/index.js'
import { addSome, addTo, counters, noCounts, others } from '../add-figures.js'
import type { LoggedRow } from '../tally.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// Hours of the first week; then a row a day.
const daysOfHours = 8
// How many providers a campaign has, however many domains its recipients have.
const maxProviders = 60

/** When the hour or day begins that a time belongs to. */
export function beginsAt(at: number, sentAt: number | null): number {
  // By whole days, so that no day has rows of both kinds.
  const untilDay = sentAt === null ? Number.MAX_SAFE_INTEGER : floor(sentAt, dayMs)
  return floor(at, at < untilDay + daysOfHours * dayMs ? hourMs : dayMs)
}

const floor = (at: number, step: number) => at - (((at % step) + step) % step)

/** Adds what happened to the counts of its campaigns, by time and by provider. */
export async function addCampaignCounts(tx: Tx, happenings: readonly LoggedRow[]): Promise<void> {
  const hours = new Map<string, BroadcastHourRow>()
  const providers = new Map<string, BroadcastProviderRow>()
  for (const { mail, at, provider, counts } of happenings) {
    const { broadcastId, broadcastSentAt } = mail
    if (broadcastId === null) continue
    const begins = beginsAt(at, broadcastSentAt)
    add(hours, `${broadcastId} ${begins}`, counts, () => ({
      broadcast_id: broadcastId,
      at: begins,
      ...noCounts(),
    }))
    if (provider === undefined) continue
    add(providers, `${broadcastId} ${provider}`, counts, () => ({
      broadcast_id: broadcastId,
      provider,
      ...noCounts(),
    }))
  }
  for (const row of hours.values()) await addHour(tx, row)
  for (const row of await bounded(tx, [...providers.values()])) await addProvider(tx, row)
}

function add<Row extends FigureCounts>(
  rows: Map<string, Row>,
  place: string,
  counts: Partial<FigureCounts>,
  make: () => Row,
): void {
  const row = rows.get(place) ?? make()
  rows.set(place, row)
  addSome(row, counts)
}

/** Beyond the bound, providers of a campaign share a row. */
async function bounded(tx: Tx, rows: readonly BroadcastProviderRow[]) {
  const known = new Map<string, Set<string>>()
  const kept = new Map<string, BroadcastProviderRow>()
  for (const row of rows) {
    const { broadcast_id } = row
    const names =
      known.get(broadcast_id) ??
      new Set((await providersOf(tx, { broadcast_id })).map(({ provider }) => provider))
    known.set(broadcast_id, names)
    const fits = names.size < maxProviders || names.has(row.provider)
    const provider = fits ? row.provider : others
    names.add(provider)
    const place = `${broadcast_id} ${provider}`
    const same = kept.get(place)
    if (same === undefined) kept.set(place, { ...row, provider })
    else addTo(same, row)
  }
  return kept.values()
}

const providersOf = prepared<{ broadcast_id: string }, { provider: string }>(
  (db, { broadcast_id }) =>
    db
      .selectFrom('broadcast_providers')
      .select('provider')
      .where('broadcast_id', '=', broadcast_id),
)

const added = (table: string) =>
  Object.fromEntries(
    counters.map((counter) => [
      counter,
      sql<number>`${sql.ref(`${table}.${counter}`)} + ${sql.ref(`excluded.${counter}`)}`,
    ]),
  )

const addHour = prepared<BroadcastHourRow, unknown>((db, row) =>
  db
    .insertInto('broadcast_hours')
    .values({ broadcast_id: row.broadcast_id, at: row.at, ...countsIn(row) })
    .onConflict((conflict) =>
      conflict.columns(['broadcast_id', 'at']).doUpdateSet(added('broadcast_hours')),
    ),
)

const addProvider = prepared<BroadcastProviderRow, unknown>((db, row) =>
  db
    .insertInto('broadcast_providers')
    .values({ broadcast_id: row.broadcast_id, provider: row.provider, ...countsIn(row) })
    .onConflict((conflict) =>
      conflict.columns(['broadcast_id', 'provider']).doUpdateSet(added('broadcast_providers')),
    ),
)

const countsIn = (row: FigureCounts) =>
  Object.fromEntries(counters.map((counter) => [counter, row[counter]])) as unknown as FigureCounts
