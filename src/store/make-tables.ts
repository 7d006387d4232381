import type { ColumnDataType, CreateTableBuilder, Expression, Kysely } from 'kysely'
import { ownNode } from './fragments.js'
import type { Tables } from './schema/index.js'
import type { StoredTable, TableColumn } from './schema/table.js'

type Builder = CreateTableBuilder<string>

/** The words for tables in which engines differ. */
export interface TableWords {
  typeOf: (type: TableColumn<unknown>['type']) => ColumnDataType | Expression<unknown>
  /** How a column numbers rows that are inserted without a number. */
  numbered: 'by autoincrement' | 'as identity'
  /**
   * Whether an index ends in the row's key by itself, so that its order puts rows of one value in order of their
   * keys.
   */
  endsInKey: boolean
  end: (create: Builder, table: StoredTable) => Builder
  /** The column with the numbers of a table's rows, where rows have no numbers by themselves. */
  rowNumber: string | undefined
}

/** Makes the tables, their indexes, and the rows that they have from the beginning. */
export async function makeTables(
  db: Kysely<Tables>,
  tables: readonly StoredTable[],
  words: TableWords,
): Promise<void> {
  for (const table of tables) {
    await makeTable(db, table, words)
    const key = words.endsInKey ? [] : keyOf(table)
    for (const { name, columns, isUnique, where } of table.indexes) {
      const more = isUnique ? [] : key.filter((column) => !columns.includes(column))
      let index = db.schema
        .createIndex(name)
        .on(table.name)
        .columns([...columns, ...more])
      if (isUnique) index = index.unique()
      if (where !== undefined) index = index.where(where)
      await index.execute()
    }
    for (const row of table.seed) {
      await db
        .insertInto(table.name as keyof Tables)
        .values(row as never)
        .execute()
    }
  }
}

/** The columns of the primary key. */
export function keyOf(table: StoredTable): readonly string[] {
  if (table.primaryKey.length > 0) return table.primaryKey
  return Object.entries(table.columns).flatMap(([name, { isKey }]) => (isKey ? [name] : []))
}

async function makeTable(
  { schema }: Kysely<Tables>,
  table: StoredTable,
  words: TableWords,
): Promise<void> {
  let create: Builder = schema.createTable(table.name)
  for (const [name, column] of Object.entries(table.columns)) {
    create = create.addColumn(name, words.typeOf(column.type), (c) => {
      let made = c
      if (column.isKey === true) made = made.primaryKey()
      const isNumber = column.isKey === true && column.type === 'integer'
      // An integer key is the number of the row, which SQLite assigns where it is null.
      if (column.isNullable !== true && !(isNumber && words.numbered === 'by autoincrement')) {
        made = made.notNull()
      }
      if (words.numbered === 'as identity') {
        if (column.numbered !== undefined) made = made.generatedByDefaultAsIdentity()
      } else if (column.numbered === 'rising') made = made.autoIncrement()
      if (column.isUnique === true) made = made.unique()
      if (column.fallback !== undefined) made = made.defaultTo(column.fallback)
      if (column.isOwnNode === true) made = made.defaultTo(ownNode)
      if (column.parent === undefined) return made
      made = made.references(`${column.parent.table}.id`)
      return column.parent.cascades ? made.onDelete('cascade') : made
    })
  }
  const { rowNumber } = words
  if (table.isNumbered && rowNumber !== undefined) {
    create = create.addColumn(rowNumber, words.typeOf('integer'), (c) =>
      c.notNull().unique().generatedByDefaultAsIdentity(),
    )
  }
  if (table.primaryKey.length > 0) {
    create = create.addPrimaryKeyConstraint(`${table.name}_key`, table.primaryKey as never[])
  }
  for (const columns of table.unique) {
    create = create.addUniqueConstraint(`${table.name}_${columns.join('_')}`, columns as never[])
  }
  await words.end(create, table).execute()
}
