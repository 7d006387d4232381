import {
  type BinaryOperationNode,
  type ColumnDefinitionNode,
  type CompiledQuery,
  type DatabaseConnection,
  DataTypeNode,
  type Dialect,
  type Driver,
  GeneratedNode,
  Kysely,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  type QueryResult,
  RawNode,
  ValueListNode,
} from 'kysely'
import { keepNewest } from '../../bounded/index.js'
import { inWordsOf } from '../fragments.js'
import { type FilePages, type NumberedLog, type Runner, runHere } from '../running.js'
import { isInFailed, isStale } from './errors.js'
import { columnTypes } from './make-tables.js'
import { storable } from './storable.js'
import { type Queries, watchLogs } from './whole-logs.js'
import { postgresWords } from './words.js'

/** Called with the table when a statement has changed rows of it, be it committed later or not. */
export type OnRows = (table: string) => void

interface Told {
  onRows?: OnRows
  /** Called when a query asked for a log that is not complete up to its end. */
  onPartly?: () => void
}

/** Kysely over one connection, or over a pool for queries outside of transactions. */
export function kyselyOver<T>(queries: Queries, told: Told = {}): Kysely<T> {
  const connection = new NamingConnection(queries, told)
  const dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new ThisConnectionDriver(connection),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresCompiler(),
  }
  const db = new Kysely<T>({ dialect })
  runHere(db, connection)
  return db
}

class PostgresCompiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    super.visitRaw(inWordsOf(postgresWords, node))
  }

  /** Migrations are written with SQLite's types. */
  protected override visitColumnDefinition(node: ColumnDefinitionNode): void {
    const { dataType, autoIncrement } = node
    const name = DataTypeNode.is(dataType) ? dataType.dataType : undefined
    const type =
      name === 'text' || name === 'integer' || name === 'blob' ? columnTypes[name] : undefined
    super.visitColumnDefinition({
      ...node,
      ...(type !== undefined && { dataType: RawNode.createWithSql(type) }),
      ...(autoIncrement === true && {
        autoIncrement: false,
        generated: GeneratedNode.create({ identity: true, byDefault: true }),
      }),
    })
  }

  /** PostgreSQL has no empty list; in SQLite nothing is in one. */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node
    const isList = PrimitiveValueListNode.is(rightOperand) || ValueListNode.is(rightOperand)
    if (!isList || rightOperand.values.length > 0) super.visitBinaryOperation(node)
    else this.append(OperatorNode.is(operator) && operator.operator === 'in' ? 'false' : 'true')
  }
}

/** The writer makes transactions; Kysely's own are only for migrations, which have a connection of their own. */
class ThisConnectionDriver implements Driver {
  readonly #connection: NamingConnection

  constructor(connection: NamingConnection) {
    this.#connection = connection
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    await this.#connection.rowsOf('begin', [])
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.rowsOf('commit', [])
  }

  async rollbackTransaction(): Promise<void> {
    await this.#connection.rowsOf('rollback', [])
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

interface Statement {
  name: string | undefined
  /** The table that it writes to. */
  changes: string | undefined
  /** The places of parameters that are JSON. */
  json: readonly number[]
}

// A named statement is parsed once for each connection, and kept there until that ends.
const mostNames = 1_000

/** Statements are named, so that the server parses each of them once; statements with very many variants are not. */
class NamingConnection implements DatabaseConnection, Runner {
  readonly engine = 'postgres'
  readonly #wholeLogs: ReturnType<typeof watchLogs>
  readonly #queries: Queries
  readonly #told: Told
  readonly #known = new Map<string, Statement>()
  #names = 0

  constructor(queries: Queries, told: Told) {
    this.#queries = queries
    this.#told = told
    this.#wholeLogs = watchLogs(queries)
  }

  async wholeTo(log: NumberedLog): Promise<number> {
    const { whole, last } = await this.#wholeLogs()
    if (whole[log] < last[log]) this.#told.onPartly?.()
    return whole[log]
  }

  async pages(): Promise<FilePages> {
    const text = 'select pg_database_size(current_database()) as bytes'
    const { rows } = await this.#queries.query<{ bytes: number }>(text, [])
    return { total: rows[0]?.bytes ?? 0, free: 0, bytesEach: 1, shrinks: true }
  }

  async rowsOf(text: string, parameters: readonly unknown[]): Promise<unknown[]> {
    return (await this.#run(text, parameters)).rows
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, rowCount, command } = await this.#run(query.sql, query.parameters)
    const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return isChange
      ? { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
      : { rows: rows as R[] }
  }

  // biome-ignore lint/correctness/useYield: who reads a long table does so in pages of its own
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Over PostgreSQL queries are read in pages, not streamed')
  }

  async #run(text: string, parameters: readonly unknown[]) {
    const known = this.#known.get(text) ?? this.#note(text)
    const ask = ({ name, json }: Statement) =>
      this.#queries.query({
        text,
        values: storable(parameters, json) as unknown[],
        ...(name !== undefined && { name }),
      })
    const result = await ask(known).catch(async (stale: unknown) => {
      if (!isStale(stale)) throw stale
      // Others that wait for its answer may already have given it a new name.
      const now = this.#known.get(text)
      const renamed = now === known || now === undefined ? this.#note(text) : now
      return await ask(renamed).catch((error: unknown) => {
        // The transaction is over, and runs again.
        throw isInFailed(error) ? stale : error
      })
    })
    if (known.changes !== undefined && (result.rowCount ?? 0) > 0)
      this.#told.onRows?.(known.changes)
    return result
  }

  #note(text: string) {
    const isOwn = /^\s*(select|insert|update|delete|with)\b/i.test(text)
    const name = isOwn && this.#names < mostNames ? `s${this.#names++}` : undefined
    const changes = /\b(?:into|update|delete from) "(\w+)"/.exec(text)?.[1]
    const json = [...text.matchAll(/cast\(\$(\d+) as jsonb\)/g)].map(([, n]) => Number(n) - 1)
    const known = { name, changes, json }
    keepNewest(this.#known, text, known, 2 * mostNames)
    return known
  }
}
