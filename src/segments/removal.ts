import { idsIn, type Store } from '../store/index.js'

// Rows of a deleted segment that a write takes: some milliseconds.
const perRemoval = 1_000

/** A slice of the rows of a segment that is deleted, and at last itself; resolves with whether there was one. */
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
