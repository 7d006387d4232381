import {
  type Compilable,
  type CompiledQuery,
  type Insertable,
  type InsertObject,
  type InsertQueryBuilder,
  type InsertResult,
  sql,
} from 'kysely'
import { onceAnEngine, runnerOf } from './running.js'
import type { Read, Tables } from './schema/index.js'

/**
 * A query that Kysely builds and compiles once and that then runs with other values: on the path of every mail the
 * building takes longer than SQLite does. It is compiled for each engine separately. `build` gets placeholders
 * instead of values; it must not look at them, but only hand them to the builder.
 */
export function prepared<Values extends object, Row>(
  build: (db: Read, values: Values) => Compilable<Row>,
): (db: Read, values: Values) => Promise<Row[]> {
  const compiledOf = onceAnEngine<{ query?: CompiledQuery<Row> }>(() => ({}))
  return async (db, values) => {
    const compiled = compiledOf(db)
    compiled.query ??= build(db, placeholders as Values).compile()
    const parameters = compiled.query.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    )
    return runnerOf(db).rowsOf(compiled.query.sql, parameters) as Promise<Row[]> | Row[]
  }
}

/** Prepares the insert of one row; every given row has the same columns, with null where there is nothing. */
export function preparedInsert<T extends keyof Tables & string>(
  table: T,
): (tx: Read, row: Insertable<Tables[T]>) => Promise<unknown> {
  let insert: ((tx: Read, row: Insertable<Tables[T]>) => Promise<unknown>) | undefined
  return (tx, row) => {
    insert ??= prepared<Insertable<Tables[T]>, unknown>((db, values) => {
      const columns = Object.keys(row) as (keyof Insertable<Tables[T]>)[]
      const named = Object.fromEntries(columns.map((column) => [column, values[column]]))
      return db.insertInto(table).values(named as InsertObject<Tables, T>)
    })
    return insert(tx, row)
  }
}

// The most rows of one statement; larger ones are not faster, and take longer to compile.
const mostRowsAtOnce = 64
// Up to so many rows are inserted by one statement of exactly as many.
const fewRows = 4

/**
 * Prepares the insert of many rows, in the fewest statements of 64, 32, 16, 8 or up to 4 rows, each of which is
 * compiled once. Values are bound unchanged, which takes a third of the time of rows in a JSON array. `end` adds what
 * follows the rows, such as `returning`; the rows that it returns are the result.
 */
export function preparedInsertAll<T extends keyof Tables & string, Row = never>(
  table: T,
  end: (insert: InsertQueryBuilder<Tables, T, InsertResult>) => Compilable<Row> = (insert) =>
    insert as unknown as Compilable<Row>,
): (tx: Read, rows: readonly Insertable<Tables[T]>[]) => Promise<Row[]> {
  const textsOf = onceAnEngine(() => new Map<number, string>())
  let columns: (keyof Insertable<Tables[T]>)[] = []
  const textOf = (tx: Read, width: number): string => {
    const texts = textsOf(tx)
    const known = texts.get(width)
    if (known !== undefined) return known
    const row = Object.fromEntries(columns.map((column) => [column, null]))
    const rows = Array.from({ length: width }, () => row as InsertObject<Tables, T>)
    const text = end(tx.insertInto(table).values(rows)).compile().sql
    texts.set(width, text)
    return text
  }
  return async (tx, rows) => {
    const returned: Row[] = []
    const [first] = rows
    if (first === undefined) return returned
    if (columns.length === 0) columns = Object.keys(first) as typeof columns
    for (let from = 0, width = 0; from < rows.length; from += width) {
      const left = rows.length - from
      width = left <= fewRows ? left : Math.min(mostRowsAtOnce, 2 ** (31 - Math.clz32(left)))
      const some = rows.slice(from, from + width)
      const cells = new Array<unknown>(width * columns.length)
      let at = 0
      for (const row of some) for (const column of columns) cells[at++] = row[column]
      returned.push(...((await runnerOf(tx).rowsOf(textOf(tx, width), cells)) as Row[]))
    }
    return returned
  }
}

/**
 * A query over rows of cells, which it finds by `boundCell`; compiled for 1, 4, 16 and 64 rows. Missing rows are
 * filled with nulls, which a condition on their cells must not match. Values are bound unchanged: SQLite would parse
 * a JSON array (`rowsOf`) again for each cell that is named, which takes twice as long.
 */
export function preparedOver<Row>(
  width: number,
  build: (db: Read, lines: ReturnType<typeof linesOf>) => Compilable<Row>,
): (db: Read, rows: readonly (readonly unknown[])[]) => Promise<Row[]> {
  const textsOf = onceAnEngine(() => new Map<number, string>())
  const textOf = (db: Read, height: number): string => {
    const texts = textsOf(db)
    const known = texts.get(height)
    if (known !== undefined) return known
    const text = build(db, linesOf(width, height)).compile().sql
    texts.set(height, text)
    return text
  }
  return async (db, rows) => {
    const found: Row[] = []
    for (let from = 0; from < rows.length; from += mostRowsAtOnce) {
      const some = rows.slice(from, from + mostRowsAtOnce)
      const height = some.length === 1 ? 1 : some.length <= 4 ? 4 : some.length <= 16 ? 16 : 64
      const cells = new Array<unknown>(width * height).fill(null)
      let at = 0
      for (const row of some) for (const cell of row) cells[at++] = cell
      const those = (await runnerOf(db).rowsOf(textOf(db, height), cells)) as Row[]
      if (found.length === 0 && rows.length <= mostRowsAtOnce) return those
      found.push(...those)
    }
    return found
  }
}

/** Rows of values to bind; both SQLite and PostgreSQL call their columns `column1` and so on. */
function linesOf(width: number, height: number) {
  const line = sql`(${sql.join(Array.from({ length: width }, () => sql`${null}`))})`
  const lines = sql.join(Array.from({ length: height }, () => line))
  return sql<{ column1: unknown }>`(values ${lines})`.as('line')
}

/** Stands for a value while the query is compiled once; each run puts the value of that name in its place. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const placeholders: object = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })
