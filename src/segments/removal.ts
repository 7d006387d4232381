import { idsIn, type Store } from '../store/index.js'

// How many rows of a deleted segment one write deletes: some milliseconds.
const perRemoval = 1_000

/**
 * Deletes a slice of the rows of a deleted segment, and at last the segment itself; resolves with whether there was
 * one.
 */
export async function takeDeleted({ read, write }: Store): Promise<boolean> {
  const segment = await read
    .selectFrom('segments')
    .select('id')
    .where('state', '=', 'deleted')
    .limit(1)
    .executeTakeFirst()
  if (segment === undefined) return false
  await write(async (tx) => {
    for (const table of ['segment_due', 'segment_members'] as const) {
      const rows = await tx
        .selectFrom(table)
        .select('contact_id')
        .where('segment_id', '=', segment.id)
        .limit(perRemoval)
        .execute()
      const ids = rows.map((row) => row.contact_id)
      await tx
        .deleteFrom(table)
        .where('segment_id', '=', segment.id)
        .where('contact_id', 'in', idsIn(ids, 'text'))
        .execute()
      if (ids.length === perRemoval) return
    }
    await tx.deleteFrom('segments').where('id', '=', segment.id).execute()
  })
  return true
}
