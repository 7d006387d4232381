import {
  createQueryId,
  createRawBuilder,
  type Expression,
  type RawBuilder,
  RawNode,
  sql,
} from 'kysely'
import { type NumberedLog, runnerOf } from './running.js'
import type { EmailStatus, Read } from './schema/index.js'

/*
 * The few pieces of queries that SQLite and PostgreSQL say differently. A piece has a name and no SQL: the compiler
 * of the engine has the words for it (`FragmentWords`).
 */

/**
 * The SQL type of a value: that of the column with which it is compared or into which it is put. SQLite knows the
 * type of each value by itself and ignores this; PostgreSQL has to be told, and Kysely checks the type.
 */
export interface ValueTypes {
  text: string
  integer: number
}

type ValueType = keyof ValueTypes

/** What an engine is told about a piece. The piece's operands stand between the engine's words. */
interface Pieces {
  /** The values in a JSON array, as a subquery. */
  idsOf: { type: ValueType }
  /** The arrays in a JSON array, as a table. */
  rowsOf: Record<never, never>
  /** A cell of `rowsOf`. */
  cell: { type: ValueType; place: number }
  /** A value that the statement binds, whose type nothing else tells. */
  value: { type: ValueType }
  unindexed: Record<never, never>
  locked: Record<never, never>
  lockedFree: Record<never, never>
  ownNode: Record<never, never>
  ofAnyNode: Record<never, never>
  greatest: { count: number }
  least: { count: number }
  contains: Record<never, never>
  likeAnyCase: Record<never, never>
  mailNumber: Record<never, never>
  rareStatus: Record<never, never>
  databaseClock: Record<never, never>
  endedTransactions: Record<never, never>
  tableEnd: { isClustered: boolean }
}

/** An engine's words for each piece: before, between and after its operands. */
export type FragmentWords = {
  readonly [Name in keyof Pieces]: (facts: Pieces[Name]) => readonly string[]
}

interface FragmentNode extends RawNode {
  readonly piece: { readonly name: keyof Pieces; readonly facts: Pieces[keyof Pieces] }
}

const isFragment = (node: RawNode): node is FragmentNode => 'piece' in node

/** Replaces a piece by the engine's `words`; other raw SQL stays as it is. */
export function inWordsOf(words: FragmentWords, node: RawNode): RawNode {
  if (!isFragment(node)) return node
  const say = words[node.piece.name] as (facts: object) => readonly string[]
  return RawNode.create(say(node.piece.facts), node.parameters)
}

function piece<Value, Name extends keyof Pieces>(
  name: Name,
  facts: Pieces[Name],
  operands: readonly Expression<unknown>[] = [],
): RawBuilder<Value> {
  const rawNode: FragmentNode = {
    kind: 'RawNode',
    sqlFragments: [],
    parameters: operands.map((operand) => operand.toOperationNode()),
    piece: { name, facts },
  }
  return createRawBuilder<Value>({ queryId: createQueryId(), rawNode })
}

/** The ids of `ids` as a subquery: one statement text for any number of them. */
export function idsIn<Type extends ValueType>(ids: readonly ValueTypes[Type][], type: Type) {
  return idsOf(JSON.stringify(ids), type)
}

/** A subquery of the ids in a JSON array, for a query that is compiled once. */
export function idsOf<Type extends ValueType>(json: string, type: Type) {
  return piece<ValueTypes[Type], 'idsOf'>('idsOf', { type }, [sql`${json}`])
}

/** The rows of a JSON array of arrays, for one statement that inserts many: see `cell`. */
export const rowsOf = (json: string) =>
  piece<{ value: string }, 'rowsOf'>('rowsOf', {}, [sql`${json}`]).as('line')

/** A row's cell, by its place. */
export function cell<Value extends string | null = string>(
  place: number,
  type: 'text',
): RawBuilder<Value>
export function cell<Value extends number | null = number>(
  place: number,
  type: 'integer',
): RawBuilder<Value>
export function cell(place: number, type: ValueType): RawBuilder<unknown> {
  return piece('cell', { type, place })
}

/** A cell of the rows that a `preparedOver` query is given, by its place. */
export function boundCell(place: number, type: 'text'): RawBuilder<string>
export function boundCell(place: number, type: 'integer'): RawBuilder<number>
export function boundCell(place: number, type: ValueType): RawBuilder<unknown> {
  return piece('value', { type }, [sql.ref(`line.column${place + 1}`)])
}

/** A bound value whose type no column beside it tells, such as a branch of a `case`. */
export const boundValue = <Type extends ValueType>(value: ValueTypes[Type] | null, type: Type) =>
  piece<ValueTypes[Type], 'value'>('value', { type }, [sql`${value}`])

/**
 * A column that no index is used for: where one value has most of the rows, its index is the long way to a few of
 * them.
 */
export const unindexed = <T>(column: string) =>
  piece<T, 'unindexed'>('unindexed', {}, [sql.ref(column)])

/**
 * The end of a query whose rows nobody else changes until the transaction ends; each row is in its latest committed
 * state. It is for works by row, which decide by what they have read. They have to change the rows afterwards, or a
 * `write` that waited for them would notice nothing.
 */
export const locked = piece<unknown, 'locked'>('locked', {})

/** The same, but only for rows that nobody else holds at this moment: the others are left out. */
export const lockedFree = piece<unknown, 'lockedFree'>('lockedFree', {})

/** The number of the appliance that writes, for a column's value where an insert names none. */
export const ownNode = piece<number, 'ownNode'>('ownNode', {})

/** Matches rows of the queue of any node: for a search by an index that begins with the node. */
export const ofAnyNode = piece<boolean, 'ofAnyNode'>('ofAnyNode', {})

/** The largest of some numbers of a row; none of them may be null. */
export const greatest = (...numbers: readonly Expression<number>[]) =>
  piece<number, 'greatest'>('greatest', { count: numbers.length }, numbers)

/** The smallest of some numbers of a row; none of them may be null. */
export const least = (...numbers: readonly Expression<number>[]) =>
  piece<number, 'least'>('least', { count: numbers.length }, numbers)

/** Whether a text has another as a part, letter for letter. */
export const contains = (column: string, part: string) =>
  piece<boolean, 'contains'>('contains', {}, [sql.ref(column), sql`${part}`])

/** Whether a column has this text as a part, in any case of ASCII letters; % and _ are no wildcards. */
export function likeAnyCase(column: string, part: string) {
  const pattern = `%${part.replace(/[\\%_]/g, '\\$&')}%`
  return piece<boolean, 'likeAnyCase'>('likeAnyCase', {}, [sql.ref(column), sql`${pattern}`])
}

/**
 * The number of a mail. It rises in the order in which mails were inserted. Their ids do not: several threads make
 * them before it is their turn to write. A VACUUM of SQLite may give other numbers in the same order, so whoever
 * keeps a number keeps the mail's id beside it.
 */
export const mailNumber = piece<number, 'mailNumber'>('mailNumber', {})

/**
 * The status of a mail in the form of the indexes. It may be compared only with statuses that few mails have
 * (`emails_rare`, `emails_scheduled`).
 */
export const rareStatus = piece<EmailStatus, 'rareStatus'>('rareStatus', {})

/** Milliseconds since 1970 by the database's clock, which all its users share; every call asks it anew. */
export const databaseClock = piece<number, 'databaseClock'>('databaseClock', {})

/**
 * How many transactions that may have written have ended, in all databases of the server, without the asking one:
 * each end makes another number. It is always 0 for a file, whose changes are noticed in another way.
 */
export const endedTransactions = piece<number, 'endedTransactions'>('endedTransactions', {})

/** What follows the columns where a table is made. */
export const tableEnd = (isClustered: boolean) =>
  piece<unknown, 'tableEnd'>('tableEnd', { isClustered })

/**
 * The number up to which nothing is inserted into a log any more, so that a reader who walks along it up to there
 * misses no row: a transaction under way may have taken an earlier number, and shows its rows only when it ends.
 */
export const wholeTo = async (read: Read, log: NumberedLog): Promise<number> =>
  await runnerOf(read).wholeTo(log)
