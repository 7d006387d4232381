import { integer, table, text } from './table.js'

/** One row, of id 1. */
const appliance = table('appliance', {
  id: integer().primaryKey(),
  /** Derived from the appliance key that seals what is sealed here. */
  key_check: text(),
  /** When the running appliance last wrote; 0 before the first time. */
  alive_at: integer().default(0),
  /** If set, this is the copy of a backup made then, and nothing was started on it yet. */
  backup_made_at: integer().orNull(),
  /** When an appliance was last started on a backup's copy. */
  restored_at: integer().orNull(),
  /** The last epoch that was given to a node; none is given twice. */
  last_epoch: integer().default(0),
  /** When a node noticed that the database went back in time, and by how many milliseconds; null: that is accepted. */
  went_back_at: integer().orNull(),
  went_back_ms: integer().orNull(),
})

/** A release that has written this database, after the one of the row before. */
const releases = table('releases', {
  id: integer().numberedKey(),
  version: text(),
  /** The name of the last migration that it knew. */
  migration: text(),
  /** The last migration that had taken something away by then; empty: none. */
  contracted: text().default(''),
})

export const applianceTables = [appliance, releases] as const
