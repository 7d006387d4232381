import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema/index.js'
import type { StoredTable } from '../schema/table.js'

/** How a table ends: SQLite checks the types of what is written; the rows of a clustered one lie in their key's order. */
export const plain = sql`strict`
export const clustered = sql`strict, without rowid`

/** Makes the tables, their indexes, and the rows that they have from the beginning. */
export async function makeTables(
  db: Kysely<Tables>,
  tables: readonly StoredTable[],
): Promise<void> {
  for (const table of tables) {
    await makeTable(db, table)
    for (const { name, columns, isUnique, where } of table.indexes) {
      let index = db.schema
        .createIndex(name)
        .on(table.name)
        .columns([...columns])
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

async function makeTable({ schema }: Kysely<Tables>, table: StoredTable): Promise<void> {
  let create = schema.createTable(table.name)
  for (const [name, column] of Object.entries(table.columns)) {
    create = create.addColumn(name, column.type, (c) => {
      let made = c
      if (column.isKey === true) made = made.primaryKey()
      // An integer key is the number of the row, which SQLite gives where it is null.
      if (column.isNullable !== true && !(column.isKey && column.type === 'integer'))
        made = made.notNull()
      if (column.numbered === 'rising') made = made.autoIncrement()
      if (column.isUnique === true) made = made.unique()
      if (column.fallback !== undefined) made = made.defaultTo(column.fallback)
      if (column.parent === undefined) return made
      made = made.references(`${column.parent.table}.id`)
      return column.parent.cascades ? made.onDelete('cascade') : made
    })
  }
  if (table.primaryKey.length > 0) {
    create = create.addPrimaryKeyConstraint(`${table.name}_key`, table.primaryKey as never[])
  }
  for (const columns of table.unique) {
    create = create.addUniqueConstraint(`${table.name}_${columns.join('_')}`, columns as never[])
  }
  await create.modifyEnd(table.isClustered ? clustered : plain).execute()
}
