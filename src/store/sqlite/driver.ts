import type BetterSqlite3 from 'better-sqlite3'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type LimitNode,
  type QueryExecutorProvider,
  type QueryResult,
  type RawNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { keepNewest } from '../../bounded/index.js'
import { reportFault } from '../fault.js'
import { inWordsOf } from '../fragments.js'
import { type FilePages, type NumberedLog, type Runner, runHere, runnerOf } from '../running.js'
import type { OnFault } from '../trouble.js'
import type { RawDatabase } from './connection.js'
import { sqliteWords } from './fragments.js'

/** Is told of statements that change rows, whether or not they are committed later. */
export interface Watch {
  /** `onChange` is called for these tables. */
  tables: readonly string[]
  onChange: () => void
  /** Called with the table when rows of it have changed. */
  onRows: (table: string) => void
}

/** Kysely over one raw connection. Queries run at once and in call order; nothing is pooled. */
export function kyselyOver<T>(raw: RawDatabase, onFault?: OnFault, watch?: Watch): Kysely<T> {
  const connection = new CachingConnection(raw, onFault, watch)
  const dialect: Dialect = {
    createAdapter: () => new TransactionalDdlAdapter(),
    createDriver: () => new OneConnectionDriver(raw, connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteCompiler(),
  }
  const db = new Kysely<T>({ dialect })
  runHere(db, connection)
  return db
}

/** Runs a statement to its end that returns no rows but needs many steps, such as `incremental_vacuum`. */
export function execOn(db: QueryExecutorProvider, text: string): void {
  const connection = runnerOf(db)
  if (!(connection instanceof CachingConnection)) throw new Error('Not a database of SQLite')
  connection.exec(text)
}

class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    super.visitRaw(inWordsOf(sqliteWords, node))
  }

  /** SQLite uses the value of a bound limit for its plan, and so would compile the statement at every run. */
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

/**
 * Kysely wants a pool; SQLite has one connection in a thread, on which queries are synchronous. So nothing waits for
 * a connection, and a transaction cannot get another one.
 */
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

/** The largest number, even if its job is gone. */
const lastJob = "select seq from sqlite_sequence where name = 'webhook_jobs'"

interface Cached {
  statement: BetterSqlite3.Statement<unknown[], unknown>
  /** How rows are made from their cells; undefined where there are none. */
  toRow: ((cells: readonly unknown[]) => unknown) | undefined
  isWatched: boolean
  /** The table whose rows it changes; undefined if it only reads. */
  changes: string | undefined
}

/**
 * Statements are prepared once for each text and kept, because otherwise SQLite would parse and plan each of them
 * again.
 */
class CachingConnection implements DatabaseConnection, Runner {
  readonly engine = 'sqlite'

  /** There is one writer at a time, which assigns the numbers, so no row is ever inserted before an existing one. */
  wholeTo(log: NumberedLog): number {
    if (log !== 'webhook_jobs') return Number.MAX_SAFE_INTEGER
    const [row] = this.run<{ seq: number }>(lastJob, []).rows
    return row?.seq ?? 0
  }

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

  pages(): FilePages {
    const value = (name: string) =>
      this.run<Record<string, number>>(`pragma ${name}`, []).rows[0]?.[name] ?? 0
    return {
      total: value('page_count'),
      free: value('freelist_count'),
      bytesEach: value('page_size'),
      shrinks: value('auto_vacuum') === 2,
    }
  }

  rowsOf(text: string, parameters: readonly unknown[]): unknown[] {
    return this.run(text, parameters).rows
  }

  run<R>(text: string, parameters: readonly unknown[]): QueryResult<R> {
    try {
      const { statement, toRow, isWatched, changes: table } = this.#prepare(text)
      if (isWatched) this.#watch?.onChange()
      if (toRow !== undefined) {
        const rows = (statement.all(...parameters) as unknown[][]).map(toRow) as R[]
        if (table !== undefined && rows.length > 0) this.#watch?.onRows(table)
        return { rows }
      }
      const { changes, lastInsertRowid } = statement.run(...parameters)
      if (table !== undefined && changes > 0) this.#watch?.onRows(table)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      // Reported here, because many callers catch what a query throws, answer or log it, and go on.
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
      // The query gets its own statement: a cached one that is still being stepped could not be run again meanwhile.
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
    const isWatched = this.#watched?.test(text) ?? false
    const changes = /\b(?:into|update|delete from) "(\w+)"/.exec(text)?.[1]
    const cached = { statement, toRow, isWatched, changes }
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
