import { type RawBuilder, sql } from 'kysely'
import type { Read } from '../schema/index.js'

/* The few pieces of queries whose SQL PostgreSQL would not take. */

/**
 * What a value is in SQL: that of the column which it is compared with or put into. SQLite knows it of each value by
 * itself, and so takes no notice; PostgreSQL has to be told, and Kysely checks the type that comes with it.
 */
export interface ValueTypes {
  text: string
  integer: number
}

type ValueType = keyof ValueTypes

/** The ids of `ids` as a subquery: one statement text for any number of them. */
export function idsIn<Type extends ValueType>(ids: readonly ValueTypes[Type][], type: Type) {
  return idsOf(JSON.stringify(ids), type)
}

/** A subquery of the ids in a JSON array, for a query that is compiled once. */
export function idsOf<Type extends ValueType>(json: string, _type: Type) {
  return sql<ValueTypes[Type]>`(select value from json_each(${json}))`
}

/** The rows of a JSON array of arrays, for one statement that inserts many: see `cell`. */
export const rowsOf = (json: string) => sql<{ value: string }>`json_each(${json})`.as('line')

/** A row's cell, by its place. */
export function cell<Value extends string | null = string>(
  place: number,
  type: 'text',
): RawBuilder<Value>
export function cell<Value extends number | null = number>(
  place: number,
  type: 'integer',
): RawBuilder<Value>
export function cell(place: number): RawBuilder<unknown> {
  return sql`line.value ->> ${sql.lit(place)}`
}

/** A column as no index knows it: where one value has most of the rows, its index is the long way to a few of them. */
export const unindexed = <T>(column: string) => sql<T>`+${sql.ref(column)}`

/** The number of the row that was last put into this table, also when it is gone; 0 if there was none. */
export async function lastNumber(read: Read, table: 'webhook_jobs'): Promise<number> {
  const { rows } = await sql<{
    seq: number
  }>`select seq from sqlite_sequence where name = ${table}`.execute(read)
  return rows[0]?.seq ?? 0
}

/**
 * The number under which SQLite keeps a mail. It rises in the order in which mails were committed, which
 * their ids do not: several threads make those before it is their turn to write. A VACUUM may give other
 * numbers in the same order, so whoever keeps one keeps the mail's id beside it.
 */
export const mailNumber = sql<number>`emails.rowid`
