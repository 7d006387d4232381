import { type DeleteResult, sql } from 'kysely'
import { attachmentsOf, releaseContents } from '../contents/index.js'
import { cell, idsOf, mailNumber, prepared, type Read, rowsOf, type Tx } from '../store/index.js'

/**
 * Subtracts uses from bodies, in the write that removes them from mails. A body without uses is deleted
 * with its uses of contents. It stays if a campaign or a template still names it, or if its mails are
 * not counted.
 */
export async function releaseBodies(tx: Tx, uses: ReadonlyMap<number, number>): Promise<void> {
  if (uses.size === 0) return
  const left = await takeUses(tx, { json: JSON.stringify([...uses]) })
  await deleteBodies(
    tx,
    left.filter((one) => one.uses <= 0).map((one) => one.id),
  )
}

/**
 * The next bodies after an id that no mail uses any more, and that neither a campaign nor a template names: their
 * template was deleted after the last mail made from it. Bodies of uncounted mails are left out.
 */
export async function unnamedBodies(read: Read, after: number, limit: number) {
  const unused = await unusedAfter(read, { after, limit })
  const ids = JSON.stringify(unused.map(({ id }) => id))
  return { last: unused.at(-1)?.id, bodies: await bodiesNobodyNames(read, { ids }) }
}

/** Deletes the body, unless it got a use meanwhile. */
export async function dropUnnamed(tx: Tx, id: number): Promise<void> {
  const { bodies } = await unnamedBodies(tx, id - 1, 1)
  const [body] = bodies
  if (body?.id !== id || (await uncountedMails(tx, { id })).length > 0) return
  await dropBodies(tx, [body])
}

/** By the index that has only these. */
const unusedAfter = prepared<{ after: number; limit: number }, { id: number }>(
  (db, { after, limit }) =>
    db
      .selectFrom('body_uses')
      .select('body_id as id')
      .where('uses', '<=', sql.lit(0))
      .where('body_id', '>', after)
      .orderBy('body_id')
      .limit(limit),
)

/**
 * Uncounted mails that have the body. They are few, as the counting is only some minutes behind.
 */
const uncountedMails = prepared<{ id: number }, { id: string }>((db, { id }) =>
  db
    .selectFrom('emails')
    .select('id')
    .where(mailNumber, '>', (eb) => eb.selectFrom('retention_state').select('mail_number'))
    .where('body_id', '=', id)
    .limit(1),
)

/** Deletes bodies that no mail has, except those that a campaign or a template names. */
async function deleteBodies(tx: Tx, unused: readonly number[]): Promise<void> {
  if (unused.length === 0) return
  await dropBodies(tx, await bodiesNobodyNames(tx, { ids: JSON.stringify(unused) }))
}

/** Deletes a body that nothing names any more, unless a mail has it, counted or not. */
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

/** Subtracts uses, and returns the rest. */
const takeUses = prepared<{ json: string }, { id: number; uses: number }>((db, { json }) =>
  db
    .updateTable('body_uses')
    .from(rowsOf(json))
    .set({ uses: sql`uses - ${cell(1, 'integer')}` })
    .where('body_id', '=', cell(0, 'integer'))
    .returning(['body_id as id', 'uses']),
)

/** The bodies that neither a campaign nor a template has. */
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
            selectFrom('broadcast_variants').select('key').whereRef('body_id', '=', 'bodies.id'),
          ),
        ),
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
