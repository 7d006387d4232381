import { tableEnd } from '../fragments.js'
import type { TableWords } from '../make-tables.js'

/**
 * How a table ends: SQLite checks the types of values; the rows of a clustered table are stored in the order of their
 * key.
 */
export const plain = tableEnd(false)
export const clustered = tableEnd(true)

export const sqliteTables: TableWords = {
  typeOf: (type) => type,
  numbered: 'by autoincrement',
  endsInKey: true,
  rowNumber: undefined,
  end: (create, { isClustered }) => create.modifyEnd(isClustered ? clustered : plain),
}
