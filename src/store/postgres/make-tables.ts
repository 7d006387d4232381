import { sql } from 'kysely'
import type { TableWords } from '../make-tables.js'

/** Texts are compared by their bytes, as in SQLite, so that no other version of a locale changes an index. */
export const columnTypes = { text: 'text collate "C"', integer: 'bigint', blob: 'bytea' } as const

export const postgresTables: TableWords = {
  typeOf: (type) => sql.raw(columnTypes[type]),
  numbered: 'as identity',
  endsInKey: false,
  rowNumber: 'number',
  end: (create) => create,
}
