import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type LimitNode,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { keepNewest } from '../bounded/index.js'
import { type OnFault, reportFault } from './fault.js'
import type { Read } from './schema.js'

/**
 * Everything that is SQLite's own lives in this file: how a connection is opened and set,
 * Kysely's driver over better-sqlite3, and the few fragments whose SQL PostgreSQL would not take.
 */
export type RawDatabase = BetterSqlite3.Database

/** A table suffix that makes SQLite check column types. */
export const strict = sql`strict`

/** A table suffix: the rows lie in their key's own order, so that the key is stored once. */
export const withoutRowid = sql`without rowid`

/** The ids of `ids` as a subquery: one statement text for any number of them. */
export function idsIn(ids: readonly (string | number)[]) {
  return idsOf(JSON.stringify(ids))
}

/** The same with the ids as a JSON array, for a query that is compiled once. */
export function idsOf(json: string) {
  return sql<never>`(select value from json_each(${json}))`
}

/** The rows of a JSON array of arrays, for one statement that inserts many: see `cell`. */
export const rowsOf = (json: string) => sql<{ value: string }>`json_each(${json})`.as('line')

/** A row's cell, by its place. */
export const cell = <T>(place: number) => sql<T>`line.value ->> ${sql.lit(place)}`

/** A column as no index knows it: where one value has most of the rows, its index is the long way to a few of them. */
export const unindexed = <T>(column: string) => sql<T>`+${sql.ref(column)}`

/** The number of the row that was last put into this table, also when it is gone; 0 if there was none. */
export async function lastNumber(read: Read, table: 'webhook_jobs'): Promise<number> {
  const { rows } = await sql<{
    seq: number
  }>`select seq from sqlite_sequence where name = ${table}`.execute(read)
  return rows[0]?.seq ?? 0
}

export const databaseFile = (dataDir: string) => join(dataDir, 'posthorn.db')

export interface ConnectionOptions {
  readonly?: boolean
  /** How long SQLite may block this thread while another *process* writes (threads take turns). */
  busyTimeoutMs: number
  /** Pages that the connection keeps in memory, in units of 1,024 bytes. */
  cacheKb?: number
}

export function openConnection(file: string, options: ConnectionOptions): RawDatabase {
  const raw = new BetterSqlite3(file, { timeout: options.busyTimeoutMs })
  // Before the first page is made. On a file that has some it would wait for the lock of who writes, at every
  // opening, and change nothing.
  if (raw.pragma('page_count', { simple: true }) === 0) raw.pragma('auto_vacuum = incremental')
  raw.pragma('journal_mode = wal')
  raw.pragma('synchronous = full')
  raw.pragma('foreign_keys = on')
  raw.pragma(`cache_size = -${options.cacheKb ?? 32_000}`)
  raw.pragma('temp_store = memory')
  // 128 MB: the checkpoint thread has copied most of it by then, so that the writer, which is held up
  // by its own checkpoint, has the last second's pages left to copy before the log starts anew.
  raw.pragma('wal_autocheckpoint = 32000')
  if (options.readonly) raw.pragma('query_only = on')
  return raw
}

/** Who is told when a statement runs that changes rows of these tables, be it committed later or not. */
export interface Watch {
  tables: readonly string[]
  onChange: () => void
}

/** Kysely over one raw connection. Queries run at once and in call order; nothing is pooled. */
export function kyselyOver<T>(raw: RawDatabase, onFault?: OnFault, watch?: Watch): Kysely<T> {
  const connection = new CachingConnection(raw, onFault, watch)
  const dialect: Dialect = {
    createAdapter: () => new TransactionalDdlAdapter(),
    createDriver: () => new OneConnectionDriver(raw, connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new UnpeekedLimitCompiler(),
  }
  const db = new Kysely<T>({ dialect })
  connections.set(db, connection)
  return db
}

const connections = new WeakMap<object, CachingConnection>()

/** Runs a compiled query on the connection behind `db`, at once, past Kysely's plugins and promises. */
export function runOn<R>(db: object, text: string, parameters: readonly unknown[]): R[] {
  const connection = connections.get(db)
  if (connection === undefined) throw new Error('Not a database that kyselyOver made')
  return connection.run<R>(text, parameters).rows
}

/** Runs a statement to its end that gives no rows and yet takes many steps, such as `incremental_vacuum`. */
export function execOn(db: object, text: string): void {
  const connection = connections.get(db)
  if (connection === undefined) throw new Error('Not a database that kyselyOver made')
  connection.exec(text)
}

/** SQLite looks into a bound limit to plan with, and so compiles the statement anew at every run. */
class UnpeekedLimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit cast(')
    this.visitNode(node.limit)
    this.append(' as integer)')
  }
}

/** Kysely's own adapter runs migrations outside a transaction; a failed one would leave half a schema. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class OneConnectionDriver implements Driver {
  readonly #connection: DatabaseConnection
  readonly #raw: RawDatabase

  constructor(raw: RawDatabase, connection: DatabaseConnection) {
    this.#raw = raw
    this.#connection = connection
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    // IMMEDIATE: a deferred transaction that turns to writing gets SQLITE_BUSY at once.
    this.#raw.exec('begin immediate')
  }

  async commitTransaction(): Promise<void> {
    this.#raw.exec('commit')
  }

  async rollbackTransaction(): Promise<void> {
    if (this.#raw.inTransaction) this.#raw.exec('rollback')
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#raw.close()
  }
}

const maxCachedStatements = 300

interface Cached {
  statement: BetterSqlite3.Statement<unknown[], unknown>
  /** How rows are made from their cells; undefined where none come. */
  toRow: ((cells: readonly unknown[]) => unknown) | undefined
  isWatched: boolean
}

class CachingConnection implements DatabaseConnection {
  readonly #raw: RawDatabase
  readonly #onFault: OnFault | undefined
  readonly #statements = new Map<string, Cached>()
  readonly #watch: Watch | undefined
  readonly #watched: RegExp | undefined

  constructor(raw: RawDatabase, onFault: OnFault | undefined, watch: Watch | undefined) {
    this.#raw = raw
    this.#onFault = onFault
    this.#watch = watch
    this.#watched =
      watch && new RegExp(`\\b(?:into|update|delete from) "(?:${watch.tables.join('|')})"`)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.run(query.sql, query.parameters)
  }

  run<R>(text: string, parameters: readonly unknown[]): QueryResult<R> {
    try {
      const { statement, toRow, isWatched } = this.#prepare(text)
      if (isWatched) this.#watch?.onChange()
      if (toRow !== undefined) {
        return { rows: (statement.all(...parameters) as unknown[][]).map(toRow) as R[] }
      }
      const { changes, lastInsertRowid } = statement.run(...parameters)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      // Here, because many callers catch what a query throws, answer or log it, and go on.
      reportFault(error, this.#onFault)
      throw error
    }
  }

  exec(text: string): void {
    try {
      this.#raw.exec(text)
    } catch (error) {
      reportFault(error, this.#onFault)
      throw error
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    try {
      // Its own statement: a cached one that is still being stepped could not be run again meanwhile.
      const statement = this.#raw.prepare(query.sql)
      for (const row of statement.iterate(...query.parameters)) yield { rows: [row as R] }
    } catch (error) {
      reportFault(error, this.#onFault)
      throw error
    }
  }

  #prepare(text: string): Cached {
    const known = this.#statements.get(text)
    if (known !== undefined) return known
    const statement = this.#raw.prepare<unknown[], unknown>(text)
    const toRow = statement.reader ? rowMaker(statement) : undefined
    const cached = { statement, toRow, isWatched: this.#watched?.test(text) ?? false }
    keepNewest(this.#statements, text, cached, maxCachedStatements)
    return cached
  }
}

/**
 * Rows are built here from arrays of cells: better-sqlite3 adds an object's properties one by one
 * through the C++ API, which takes as long as the query (15 columns: 9.2 µs against 6.7, Nov 2026).
 */
function rowMaker(statement: BetterSqlite3.Statement<unknown[], unknown>) {
  const names = statement
    .raw()
    .columns()
    .map(({ name }) => name)
  const empty = Object.fromEntries(names.map((name) => [name, null as unknown]))
  return (cells: readonly unknown[]): unknown => {
    const row = { ...empty }
    for (const [place, name] of names.entries()) row[name] = cells[place]
    return row
  }
}
