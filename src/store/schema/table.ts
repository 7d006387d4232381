import {
  type ColumnType,
  type Expression,
  type ExpressionBuilder,
  expressionBuilder,
  type Generated,
  type Insertable,
  type SqlBool,
} from 'kysely'

/**
 * A table is described once, as a value: Kysely's types are taken from it (`RowOf`), and an engine makes the table
 * from it (`make-tables.ts`). The description is the same for every engine.
 */
export interface StoredTable<Name extends string = string, C extends TableColumns = TableColumns> {
  readonly name: Name
  readonly columns: C
  /** A primary key of more than one column. */
  readonly primaryKey: readonly string[]
  readonly unique: readonly (readonly string[])[]
  readonly isClustered: boolean
  readonly isNumbered: boolean
  readonly isUnlogged: boolean
  readonly indexes: readonly TableIndex[]
  readonly seed: readonly object[]
}

export type TableColumns = Readonly<Record<string, TableColumn<unknown>>>

export interface TableIndex {
  readonly name: string
  readonly columns: readonly string[]
  readonly isUnique: boolean
  readonly where: Expression<SqlBool> | undefined
}

/** What an engine has to know about a column. */
interface ColumnFacts {
  readonly type: 'text' | 'integer' | 'blob'
  readonly isNullable?: boolean
  readonly isKey?: boolean
  /**
   * The engine numbers rows that are inserted without a number; `rising`: above every number that any row ever had.
   */
  readonly numbered?: 'free' | 'rising'
  readonly isUnique?: boolean
  readonly fallback?: string | number
  /** The default is the number of the node that writes. */
  readonly isOwnNode?: boolean
  /** The table whose rows it names by `id`; `cascades`: it is deleted with that row. */
  readonly parent?: { readonly table: string; readonly cascades: boolean }
}

/** A column of values of `T`. Null is not allowed, unless `orNull` says so. */
export interface TableColumn<T> extends ColumnFacts {
  /** Only for the types: there is never a value here. */
  readonly $value?: T
  orNull(): TableColumn<T | null>
  primaryKey(): TableColumn<T>
  /** The primary key; see `numbered`. */
  numberedKey(numbered?: 'free' | 'rising'): TableColumn<Generated<T>>
  unique(): TableColumn<T>
  /** An insert need not name it. */
  default(fallback: string | number): TableColumn<Generated<T>>
  /** The default is the number of the node that writes (`ownNode`). */
  ofOwnNode(): TableColumn<Generated<T>>
  /** No update may name it. */
  unchanging(): TableColumn<ColumnType<T, T, never>>
  /**
   * The `id` of a row of another table. Hot tables and logs have no references: whoever writes their rows has just
   * read the other row, and each check would cost a look-up for each mail.
   */
  references(table: string, onDelete?: 'cascade'): TableColumn<T>
}

export const text = <T extends string = string>() => column<T>({ type: 'text' })
/** Numbers, times (milliseconds UTC), and yes (1) or no (0). */
export const integer = <T extends number = number>() => column<T>({ type: 'integer' })
export const blob = () => column<Buffer>({ type: 'blob' })

function column<T>(facts: ColumnFacts): TableColumn<T> {
  return {
    ...facts,
    orNull: () => column({ ...facts, isNullable: true }),
    primaryKey: () => column({ ...facts, isKey: true }),
    numberedKey: (numbered = 'free') => column({ ...facts, isKey: true, numbered }),
    unique: () => column({ ...facts, isUnique: true }),
    default: (fallback) => column({ ...facts, fallback }),
    ofOwnNode: () => column({ ...facts, isOwnNode: true }),
    unchanging: () => column(facts),
    references: (table, onDelete) =>
      column({ ...facts, parent: { table, cascades: onDelete === 'cascade' } }),
  }
}

/** A row as Kysely's `Selectable`, `Insertable` and `Updateable` take it. */
export type RowOf<T extends { readonly columns: TableColumns }> = ValuesOf<T['columns']>

/** The values of columns that several tables share. */
export type ValuesOf<C extends TableColumns> = {
  [K in keyof C]: C[K] extends { readonly $value?: infer T } ? T : never
}

interface TableParts<C extends TableColumns> {
  primaryKey?: readonly (keyof C & string)[]
  unique?: readonly (readonly (keyof C & string)[])[]
  /** The rows lie in their key's own order, so that the key is stored once. */
  isClustered?: boolean
  /** The rows are worth nothing after a crash, so a server does not write them to its log. */
  isUnlogged?: boolean
  /** Each row has a number that rises as rows are inserted (`mailNumber`). SQLite gives every row one. */
  isNumbered?: boolean
  /** By name: the columns, or a fuller description. */
  indexes?: Readonly<Record<string, readonly (keyof C & string)[] | IndexParts<C>>>
  /** Rows that every database has from the beginning. */
  seed?: readonly Insertable<ValuesOf<C>>[]
}

interface IndexParts<C extends TableColumns> {
  on: readonly (keyof C & string)[]
  isUnique?: boolean
  /**
   * Only rows that fulfil this are in the index; only statements with the same condition, word for word, can use it.
   */
  where?: (row: ExpressionBuilder<{ row: ValuesOf<C> }, 'row'>) => Expression<SqlBool>
}

export function table<Name extends string, C extends TableColumns>(
  name: Name,
  columns: C,
  parts: TableParts<C> = {},
): StoredTable<Name, C> {
  const { primaryKey = [], unique = [], indexes = {}, seed = [] } = parts
  const { isClustered = false, isNumbered = false, isUnlogged = false } = parts
  return {
    name,
    columns,
    primaryKey,
    unique,
    isClustered,
    isNumbered,
    isUnlogged,
    seed,
    indexes: Object.entries(indexes).map(([name, index]) =>
      'on' in index
        ? {
            name,
            columns: index.on,
            isUnique: index.isUnique ?? false,
            where: index.where?.(expressionBuilder<{ row: ValuesOf<C> }, 'row'>()),
          }
        : { name, columns: index, isUnique: false, where: undefined },
    ),
  }
}
