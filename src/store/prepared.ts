import type { Compilable, CompiledQuery, Insertable, InsertObject } from 'kysely'
import { runOn } from './dialect.js'
import type { Read, Tables } from './schema.js'

/**
 * A query that Kysely builds and compiles once and that then runs with other values: on the path of
 * every mail the building takes longer than SQLite does. `build` sees placeholders in place of the
 * values; it must not look at them, only hand them to the builder.
 */
export function prepared<Values extends object, Row>(
  build: (db: Read, values: Values) => Compilable<Row>,
): (db: Read, values: Values) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined
  return async (db, values) => {
    compiled ??= build(db, placeholders as Values).compile()
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    )
    return runOn<Row>(db, compiled.sql, parameters)
  }
}

/** The same for writing one row; every row given has the same columns, null where there is nothing. */
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

class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const placeholders: object = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })
