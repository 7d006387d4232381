import {
  mailNumber,
  type Read,
  type RetentionStateRow,
  type Store,
  type Tx,
} from '../store/index.js'

/** The one row that remembers how far retention has come. */
export type RetentionState = Omit<RetentionStateRow, 'id'>

/** How far retention has come. */
export async function readState(read: Read): Promise<RetentionState> {
  return await read
    .selectFrom('retention_state')
    .select(['mail_number', 'mail_id', 'bodies_through', 'transcripts_through', 'ran_at'])
    .select('early_through')
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
}

/** Writes a part of the state, in the transaction of the work. */
export async function setState(tx: Tx, changes: Partial<RetentionState>): Promise<void> {
  await tx.updateTable('retention_state').set(changes).where('id', '=', 1).execute()
}

/** Finds the last counted mail again by its id: a VACUUM may have given the mails other numbers. */
export async function renumber({ read, write }: Store): Promise<void> {
  const { mail_id, mail_number } = await readState(read)
  const mail = await read
    .selectFrom('emails')
    .select(mailNumber.as('number'))
    .where('id', '=', mail_id)
    .executeTakeFirst()
  if (mail === undefined || mail.number === mail_number) return
  await write((tx) => setState(tx, { mail_number: mail.number }))
}

/**
 * The number from which on no mail is deleted: the figures have not counted it, or its body is not counted.
 * The last counted mails stay too, as the counts find their position by them.
 */
export async function countedBelow(read: Read): Promise<number> {
  const figures = await read
    .selectFrom('figure_cursors')
    .select('mail_number')
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
  const { mail_number: bodies } = await readState(read)
  return Math.min(figures.mail_number, bodies)
}
