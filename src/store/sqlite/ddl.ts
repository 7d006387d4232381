import { sql } from 'kysely'

/** A table suffix that makes SQLite check column types. */
export const strict = sql`strict`

/** A table suffix: the rows lie in their key's own order, so that the key is stored once. */
export const withoutRowid = sql`without rowid`
