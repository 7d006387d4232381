import { type DeleteResult, sql } from 'kysely'
import { attachmentsOf, releaseContents } from '../contents/index.js'
import { cell, idsOf, prepared, rowsOf, type Tx } from '../store/index.js'

/**
 * Takes uses from bodies, so many of each, in the write that takes them from mails. A body without a use
 * goes, and so do its uses of contents; one that a campaign or a template still names stays, and so does
 * one whose mails are not counted.
 */
export async function releaseBodies(tx: Tx, uses: ReadonlyMap<number, number>): Promise<void> {
  if (uses.size === 0) return
  const left = await takeUses(tx, { json: JSON.stringify([...uses]) })
  await deleteBodies(
    tx,
    left.filter((one) => one.uses <= 0).map((one) => one.id),
  )
}

/** Deletes bodies that no mail has, but for those that a campaign or a template names. */
async function deleteBodies(tx: Tx, unused: readonly number[]): Promise<void> {
  if (unused.length === 0) return
  await dropBodies(tx, await bodiesNobodyNames(tx, { ids: JSON.stringify(unused) }))
}

/** Deletes a body that nothing names any more, unless a mail has it or is not counted yet. */
export async function dropUnused(tx: Tx, bodyId: number): Promise<void> {
  const counted = await tx
    .selectFrom('body_uses')
    .select('uses')
    .where('body_id', '=', bodyId)
    .executeTakeFirst()
  if (counted !== undefined && counted.uses <= 0) await deleteBodies(tx, [bodyId])
}

/** Deletes bodies, whoever names them, with their uses of contents. */
export async function dropBodies(
  tx: Tx,
  bodies: readonly { id: number; attachments: string | null }[],
): Promise<void> {
  if (bodies.length === 0) return
  const ids = JSON.stringify(bodies.map(({ id }) => id))
  await deleteRows(tx, { ids })
  await deleteUses(tx, { ids })
  const contents = bodies.flatMap(({ attachments }) => attachmentsOf(attachments) ?? [])
  await releaseContents(
    tx,
    contents.map(({ content }) => content),
  )
}

/** Counts down, and tells what is left. */
const takeUses = prepared<{ json: string }, { id: number; uses: number }>((db, { json }) =>
  db
    .updateTable('body_uses')
    .from(rowsOf(json))
    .set({ uses: sql`uses - ${cell(1, 'integer')}` })
    .where('body_id', '=', cell(0, 'integer'))
    .returning(['body_id as id', 'uses']),
)

/** Those that neither a campaign nor a template has. */
const bodiesNobodyNames = prepared<{ ids: string }, { id: number; attachments: string | null }>(
  (db, { ids }) =>
    db
      .selectFrom('bodies')
      .select(['id', 'attachments'])
      .where('id', 'in', idsOf(ids, 'integer'))
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('broadcasts').select('id').whereRef('body_id', '=', 'bodies.id'))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('template_versions').select('id').whereRef('body_id', '=', 'bodies.id'),
          ),
        ),
      ),
)

/** The bodies themselves. */
const deleteRows = prepared<{ ids: string }, DeleteResult>((db, { ids }) =>
  db.deleteFrom('bodies').where('id', 'in', idsOf(ids, 'integer')),
)
/** Their counts. */
const deleteUses = prepared<{ ids: string }, DeleteResult>((db, { ids }) =>
  db.deleteFrom('body_uses').where('body_id', 'in', idsOf(ids, 'integer')),
)
