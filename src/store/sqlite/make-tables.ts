import { tableEnd } from '../fragments.js'
import type { TableWords } from '../make-tables.js'

/** How a table ends: SQLite checks the types of what is written; the rows of a clustered one lie in their key's order. */
export const plain = tableEnd(false)
export const clustered = tableEnd(true)

export const sqliteTables: TableWords = {
  typeOf: (type) => type,
  numbered: 'by autoincrement',
  endsInKey: true,
  rowNumber: undefined,
  end: (create, { isClustered }) => create.modifyEnd(isClustered ? clustered : plain),
}
