import { type FigureCursorsRow, mailNumber, type Read, type Store } from '../store/index.js'

/** The row up to which each log is counted. */
export type Cursors = Pick<FigureCursorsRow, (typeof cursorNames)[number]>

/** The columns of the one row. */
export const cursorNames = [
  ...(['event_id', 'consent_id', 'mail_number', 'mail_id', 'untold_until'] as const),
]

/** Reads how far the logs have been counted. */
export async function readCursors(read: Read): Promise<Cursors> {
  return await read
    .selectFrom('figure_cursors')
    .select(cursorNames)
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
}

/** Finds the last mail again by its id: a VACUUM may have given the mails other numbers, in the same order. */
export async function renumber(store: Store): Promise<void> {
  const { mail_id, mail_number } = await readCursors(store.read)
  const mail = await store.read
    .selectFrom('emails')
    .select(mailNumber.as('number'))
    .where('id', '=', mail_id)
    .executeTakeFirst()
  if (mail === undefined || mail.number === mail_number) return
  await store.write((tx) =>
    tx
      .updateTable('figure_cursors')
      .set({ mail_number: mail.number })
      .where('id', '=', 1)
      .execute(),
  )
}

/** How many rows are not counted yet, at most: numbers may be left out. */
export async function rowsBehind(read: Read, cursors: Cursors): Promise<number> {
  const { last_event, last_consent, last_mail } = await read
    .selectNoFrom((eb) => [
      eb
        .selectFrom('events')
        .select(({ fn }) => fn.max('id').as('id'))
        .as('last_event'),
      eb
        .selectFrom('consent')
        .select(({ fn }) => fn.max('id').as('id'))
        .as('last_consent'),
      eb
        .selectFrom('emails')
        .select(({ fn }) => fn.max(mailNumber).as('id'))
        .as('last_mail'),
    ])
    .executeTakeFirstOrThrow()
  return (
    Math.max(0, (last_event ?? 0) - cursors.event_id) +
    Math.max(0, (last_consent ?? 0) - cursors.consent_id) +
    Math.max(0, (last_mail ?? 0) - cursors.mail_number)
  )
}
