import { sql } from 'kysely'
import type { TableWords } from '../make-tables.js'

/** Texts are compared by their bytes, as in SQLite, so that no other version of a locale changes an index. */
export const columnTypes = { text: 'text collate "C"', integer: 'bigint', blob: 'bytea' } as const

/** A table whose rows are gone after a crash of the server, and on a standby that takes over. */
export const unlogged = sql`unlogged`

export const postgresTables: TableWords = {
  typeOf: (type) => sql.raw(columnTypes[type]),
  numbered: 'as identity',
  endsInKey: false,
  rowNumber: 'number',
  end: (create, { isUnlogged }) => (isUnlogged ? create.modifyFront(unlogged) : create),
}
