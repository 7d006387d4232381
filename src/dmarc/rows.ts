import { dayNumber } from '../clock/index.js'
import type { DmarcRecord } from '../reports/index.js'
import type { DmarcSourceRow, Store, Tx } from '../store/index.js'
import { keptDays } from './sources.js'

/** The domain and day of a report, and who made it. */
interface About {
  domainId: string
  day: number
  reporter: string
  proven: boolean
}

// A report's rows are written in one transaction: at most so many, those with most mail first.
const maxPerReport = 500
// Rows for a domain and day: in all, of one reporter, and of all who prove nothing. A forged report can fill only its
// own share.
const maxRows = { all: 5_000, reporter: 1_000, unproven: 200 }

/** Adds a report to the counts of its day; what is beyond the bounds is counted without its address. */
export async function addSources(
  tx: Tx,
  about: About,
  records: readonly DmarcRecord[],
): Promise<void> {
  const rows = gathered(about, records)
  let left = Math.min(maxPerReport, await roomFor(tx, about))
  const told: DmarcSourceRow[] = []
  const untold = new Map<string, DmarcSourceRow>()
  for (const row of rows) {
    if (left-- > 0) told.push(row)
    else gather(untold, { ...row, source: '', identifiers: '' })
  }
  for (const row of [...told, ...untold.values()]) {
    await tx
      .insertInto('dmarc_sources')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns([...key]).doUpdateSet((eb) => ({
          messages: eb('dmarc_sources.messages', '+', eb.ref('excluded.messages')),
        })),
      )
      .execute()
  }
}

// What tells rows apart: the primary key.
const key = [
  ...(['domain_id', 'day', 'source', 'reporter', 'proven'] as const),
  ...(['disposition', 'dkim', 'spf', 'forwarded'] as const),
] as const

/** One row for each key, the largest first. */
function gathered(
  { domainId, day, reporter, proven }: About,
  records: readonly DmarcRecord[],
): DmarcSourceRow[] {
  const rows = new Map<string, DmarcSourceRow>()
  for (const { source, disposition, dkim, spf, forwarded, count, identifiers } of records) {
    gather(rows, {
      domain_id: domainId,
      day,
      source,
      reporter,
      proven: proven ? 1 : 0,
      disposition,
      dkim: dkim ? 1 : 0,
      spf: spf ? 1 : 0,
      forwarded: forwarded ? 1 : 0,
      messages: count,
      identifiers,
    })
  }
  return [...rows.values()].sort((a, b) => b.messages - a.messages)
}

/** Adds to the row of the same key, or begins it. */
function gather(rows: Map<string, DmarcSourceRow>, row: DmarcSourceRow): void {
  const name = key.map((column) => row[column]).join(' ')
  const known = rows.get(name)
  if (known === undefined) rows.set(name, row)
  else known.messages += row.messages
}

/** How many more rows this reporter may have on this day. */
async function roomFor(tx: Tx, { domainId, day, reporter, proven }: About): Promise<number> {
  const held = await tx
    .selectFrom('dmarc_sources')
    .select(['reporter', 'proven'])
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .groupBy(['reporter', 'proven'])
    .execute()
  const sum = (of: typeof held) => of.reduce((all, { n }) => all + n, 0)
  const unproven = sum(held.filter((row) => row.proven === 0))
  if (!proven) return Math.max(0, maxRows.unproven - unproven)
  const own = sum(held.filter((row) => row.proven === 1 && row.reporter === reporter))
  return Math.max(0, Math.min(maxRows.reporter - own, maxRows.all - sum(held)))
}

// Twice as long as a name is used, so that a name in use is never deleted.
const keptNameDays = 60

/** Deletes what was reported too long ago, a domain's day at a time; resolves with how many rows. */
export async function forgetDmarc(
  { store }: { store: Store },
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  const today = dayNumber(now)
  let gone = 0
  for (const table of ['dmarc_sources', 'dmarc_reports', 'tls_reports_received'] as const) {
    while (!signal.aborted) {
      const oldest = await store.read
        .selectFrom(table as 'dmarc_reports')
        .select(['domain_id', 'day'])
        .where('day', '<', today - keptDays)
        .orderBy('day')
        .limit(1)
        .executeTakeFirst()
      if (oldest === undefined) break
      const { numDeletedRows } = await store.write((tx) =>
        tx
          .deleteFrom(table as 'dmarc_reports')
          .where('domain_id', '=', oldest.domain_id)
          .where('day', '=', oldest.day)
          .executeTakeFirstOrThrow(),
      )
      gone += Number(numDeletedRows)
    }
  }
  const { numDeletedRows } = await store.write((tx) =>
    tx
      .deleteFrom('dmarc_hosts')
      .where('day', '<', today - keptNameDays)
      .executeTakeFirstOrThrow(),
  )
  return gone + Number(numDeletedRows)
}
