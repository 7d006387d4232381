import type { Kysely } from 'kysely'
import type { Tables } from '../schema/index.js'
import { withConnection } from './server.js'

/**
 * A table that is there from before the first row of a copy to after its last one was compared. Who finds it has a part of
 * an appliance, without the queue or the log perhaps, and nothing may start on that.
 */
export const unfinishedMark = 'unfinished_copy'

/** Marks the empty database of `url`. */
export async function markUnfinished(url: string): Promise<void> {
  await withConnection(url, async (db) => {
    const mark = db.schema.createTable(unfinishedMark).ifNotExists()
    await mark.addColumn('begun', 'integer').execute()
  })
}

/** To be called when all is there. */
export async function markFinished(db: Kysely<Tables>): Promise<void> {
  await db.schema.dropTable(unfinishedMark).execute()
}
