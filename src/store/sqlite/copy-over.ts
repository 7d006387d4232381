import { type Kysely, sql } from 'kysely'
import { messageOf, OperatorError } from '../../errors/index.js'
import { keyOf } from '../make-tables.js'
import { databaseCalled } from '../place.js'
import { withConnection } from '../postgres/server.js'
import { markFinished } from '../postgres/unfinished-copy.js'
import { type Tables, tables } from '../schema/index.js'
import type { StoredTable } from '../schema/table.js'
import { openConnection } from './connection.js'
import { kyselyOver } from './driver.js'
import { databaseFile } from './files.js'

type Row = Record<string, unknown>
/** Any table, because all are treated alike. */
type AnyTables = Record<string, Row>

export interface CopyProgress {
  table: string
  copied: number
  of: number
}

export interface CopiedTable {
  table: string
  rows: number
}

// A statement of PostgreSQL binds at most 65,535 values, and some tables have 40 columns.
const rowsAtOnce = 500

/**
 * Copies all rows of the SQLite database of `dataDir` into the made and otherwise empty PostgreSQL of `url`, with
 * their ids and numbers. Nobody else may write to either. It goes on where a killed copy has stopped, because it
 * copies each table in the order of its rows. At the end the numbers of rows and sums of both are compared: an
 * OperatorError names a table that differs. With `whole` it only compares.
 */
export async function copyOver(
  dataDir: string,
  url: string,
  { onProgress, whole }: { onProgress: (progress: CopyProgress) => void; whole: boolean },
): Promise<CopiedTable[]> {
  const differs = (why: string) =>
    new OperatorError(
      `${databaseCalled({ dataDir, url })} does not have what the file has (${why}): one of the two was written to since the copy was begun. Make a new, empty one, and copy into that`,
    )
  const source = kyselyOver<AnyTables>(
    openConnection(databaseFile(dataDir), { busyTimeoutMs: 10_000, readonly: true }),
  )
  try {
    return await withConnection(url, async (db) => {
      const target = db as unknown as Kysely<AnyTables>
      if (!whole) await forgetSeeds(target)
      const done: CopiedTable[] = []
      for (const table of tables) {
        if (!whole) {
          await copyTable(source, target, table, onProgress).catch((error) => {
            throw isOfRows(error) ? differs(`${table.name}: ${messageOf(error)}`) : error
          })
        }
        const { rows, other } = await compared(source, target, table)
        if (other !== undefined) throw differs(other)
        done.push({ table: table.name, rows })
      }
      if (!whole) {
        await setNumbers(source, db)
        await markFinished(db)
      }
      return done
    })
  } finally {
    await source.destroy()
  }
}

/**
 * A new database has some rows of its own, which the other one has too. In a copy that goes on they are already the
 * other one's.
 */
async function forgetSeeds(target: Kysely<AnyTables>): Promise<void> {
  for (const table of [...tables].reverse()) {
    const { name, seed } = table as StoredTable
    if (seed.length === 0) continue
    if ((await countOf(target, name)) === seed.length) await target.deleteFrom(name).execute()
  }
}

async function copyTable(
  source: Kysely<AnyTables>,
  target: Kysely<AnyTables>,
  table: StoredTable,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const { name } = table
  const of = await countOf(source, name)
  let copied = await countOf(target, name)
  // The order in which rows were inserted; clustered tables only have the order of their key.
  const order = table.isClustered ? keyOf(table) : ['rowid']
  const page = () => {
    let query = source.selectFrom(name).select(Object.keys(table.columns))
    if (!table.isClustered) query = query.select(sql<number>`rowid`.as(rowNumber))
    for (const column of order) query = query.orderBy(sql.ref(column))
    return query
  }
  let last: Row | undefined
  if (copied > 0)
    last = await page()
      .offset(copied - 1)
      .limit(1)
      .executeTakeFirst()
  for (;;) {
    let query = page().limit(rowsAtOnce)
    if (last !== undefined) query = query.where(isAfter(order, last))
    const rows = await query.execute()
    if (rows.length === 0) return
    last = rows.at(-1)
    await target
      .insertInto(name)
      .values(rows.map((row) => forPostgres(row, table)))
      .execute()
    copied += rows.length
    onProgress({ table: name, copied, of })
  }
}

const rowNumber = '__row'

const isAfter = (order: readonly string[], row: Row) => {
  const values = order.map((column) => (column === 'rowid' ? row[rowNumber] : row[column]))
  return sql<boolean>`(${sql.join(order.map((column) => sql.ref(column)))}) > (${sql.join(values)})`
}

/** PostgreSQL keeps no text with a NUL, which a few old rows may have from strangers. */
function forPostgres(row: Row, table: StoredTable): Row {
  const values = Object.entries(row)
    .filter(([column]) => column !== rowNumber)
    .map(([column, value]) => [
      column,
      typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value,
    ])
  // The number of a mail, which readers of the log keep as their place.
  if (table.isNumbered) values.push(['number', row[rowNumber]])
  return Object.fromEntries(values)
}

/** Whether the server refuses rows because of existing ones (class 23 of SQLSTATE). */
const isOfRows = (error: unknown) =>
  error instanceof Error && 'code' in error && /^23/.test(String(error.code))

/** The rows of a table; `other`: set where the two differ in the number of rows, or in the sums of their numbers. */
async function compared(
  source: Kysely<AnyTables>,
  target: Kysely<AnyTables>,
  { name, columns }: StoredTable,
): Promise<{ rows: number; other?: string }> {
  const numbers = Object.entries(columns).flatMap(([column, { type }]) =>
    type === 'integer' ? [column] : [],
  )
  const sumsOf = async (db: Kysely<AnyTables>) =>
    await db
      .selectFrom(name)
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      // The sum of millions of times would not be an exact whole number any more.
      .select(numbers.map((column) => sql<number>`sum(${sql.ref(column)} % 1000003)`.as(column)))
      .executeTakeFirstOrThrow()
  const [was, is] = [await sumsOf(source), await sumsOf(target)]
  for (const [column, value] of Object.entries(was)) {
    if (is[column] === value) continue
    const other =
      column === 'rows'
        ? `${name} has ${value} rows in the file and ${is[column]} there`
        : `the same rows of ${name} differ in ${column}`
    return { rows: Number(was.rows), other }
  }
  return { rows: Number(was.rows) }
}

/** Rows that are inserted from now on get numbers above all earlier ones. */
async function setNumbers(source: Kysely<AnyTables>, target: Kysely<Tables>): Promise<void> {
  for (const table of tables as readonly StoredTable[]) {
    const own = Object.entries(table.columns).find(([, { numbered }]) => numbered !== undefined)
    const column = table.isNumbered ? 'number' : own?.[0]
    if (column === undefined) continue
    const there = await source
      .selectFrom(table.name)
      .select(sql<number | null>`max(rowid)`.as('last'))
      .executeTakeFirst()
    const rising = own?.[1].numbered === 'rising' ? await risenTo(source, table.name) : 0
    const last = Math.max(Number(there?.last ?? 0), rising)
    if (last === 0) continue
    await sql`select setval(pg_get_serial_sequence(${table.name}, ${column}), ${last})`.execute(
      target,
    )
  }
}

/** SQLite remembers the largest number of a table even when its row is gone. */
async function risenTo(source: Kysely<AnyTables>, name: string): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select seq from sqlite_sequence where name = ${name}`.execute(source)
  return rows[0]?.seq ?? 0
}

async function countOf(db: Kysely<AnyTables>, name: string): Promise<number> {
  const found = await db
    .selectFrom(name)
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  return Number(found.rows)
}
