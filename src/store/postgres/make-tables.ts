import { sql } from 'kysely'
import type { TableWords } from '../make-tables.js'

/** Texts are compared by their bytes, as in SQLite, so that no other version of a locale changes an index. */
const types = { text: sql`text collate "C"`, integer: sql`bigint`, blob: sql`bytea` }

export const postgresTables: TableWords = {
  typeOf: (type) => types[type],
  numbered: 'as identity',
  endsInKey: false,
  rowNumber: 'number',
  end: (create) => create,
}
