import type { Kysely } from 'kysely'
import type { Tables } from '../schema/index.js'
import { withConnection } from './server.js'

/**
 * A table that exists from before the first row of a copy until after the last one was compared. A database with it
 * is only a part of an appliance, perhaps without the queue or the log, and nothing may start on it.
 */
export const unfinishedMark = 'unfinished_copy'

/** Marks the empty database of `url`. */
export async function markUnfinished(url: string): Promise<void> {
  await withConnection(url, async (db) => {
    const mark = db.schema.createTable(unfinishedMark).ifNotExists()
    await mark.addColumn('begun', 'integer').execute()
  })
}

/** To be called when the copy is complete. */
export async function markFinished(db: Kysely<Tables>): Promise<void> {
  await db.schema.dropTable(unfinishedMark).execute()
}
