import { idsOf, prepared, preparedInsertAll, type Read, type Tx } from '../store/index.js'
import { type EndingRow, endingOf, endRuns, linesOf } from './end.js'
import { makeRunTally } from './tally.js'

/** Why a contact leaves all runs. */
export type LeaveReason = 'unsubscribed' | 'bounced' | 'complained' | 'suppressed'

/**
 * Ends the runs of whoever has an address of the account, in the transaction of what they did. An
 * unsubscribe spares the runs of automations that are marked as sending only transactional mail.
 */
export async function leaveRuns(
  tx: Tx,
  accountId: string,
  { address, reason, at }: { address: string; reason: LeaveReason; at: number },
): Promise<void> {
  const rows = await runsAt(tx, { accountId, address: address.toLowerCase() })
  const leaving = reason === 'unsubscribed' ? rows.filter((row) => row.outlives === 0) : rows
  if (leaving.length === 0) return
  const tally = makeRunTally()
  const endings = leaving.map((row) => endingOf(row, 'exited', reason, at))
  await endRuns(tx, endings, { at, tally })
  await tally.write(tx)
}

/** The live runs of the contact with an address. */
const runsAt = prepared<{ accountId: string; address: string }, EndingRow & { outlives: 0 | 1 }>(
  (db, { accountId, address }) =>
    db
      .selectFrom('contacts')
      .innerJoin('automation_live as live', 'live.contact_id', 'contacts.id')
      .select(['live.id', 'step_id', 'history', 'started_at', 'outlives'])
      .where('contacts.account_id', '=', accountId)
      .where('address', '=', address),
)

// As many as one write deletes in some milliseconds; `forgetMore` deletes the rest.
const eventsAtOnce = 1_000

/**
 * For deleted contacts: ends their runs and forgets what was kept of them, in the same transaction.
 * The results of ended runs still count, but for nobody. Where somebody has very many events,
 * `forgetMore` deletes the rest.
 */
export async function forgetContacts(
  tx: Tx,
  contactIds: readonly string[],
  at: number,
): Promise<void> {
  if (contactIds.length === 0) return
  const ids = JSON.stringify(contactIds)
  const live = await runsOf(tx, { ids })
  const tally = makeRunTally()
  const endings = live.map((row) => endingOf(row, 'exited', 'deleted', at))
  await endRuns(tx, endings, { at, tally })
  await tally.write(tx)
  const blanked = await blankRuns(tx, { ids })
  const mails = blanked.flatMap(({ history }) => mailsIn(history))
  if (mails.length > 0) await forgetMerges(tx, { ids: JSON.stringify(mails) })
  await emptyRuns(tx, { runs: JSON.stringify(blanked.map(({ id }) => id)) })
  await forgetEntries(tx, { ids })
  await forgetDates(tx, { ids })
  const forgotten = await forgetEvents(tx, { ids, limit: eventsAtOnce })
  if (forgotten.length === eventsAtOnce) {
    await leaveForLater(
      tx,
      contactIds.map((contact_id) => ({ contact_id })),
    )
  }
}

/** Whether `forgetMore` has anything to do. */
export async function hasForgotten(read: Read): Promise<boolean> {
  const row = await read
    .selectFrom('automation_forgotten')
    .select('contact_id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes some of the events that deletions have left; resolves with whether there may be more. */
export async function forgetMore(tx: Tx): Promise<boolean> {
  const contacts = await tx
    .selectFrom('automation_forgotten')
    .select('contact_id')
    .limit(100)
    .execute()
  if (contacts.length === 0) return false
  const ids = JSON.stringify(contacts.map((row) => row.contact_id))
  const forgotten = await forgetEvents(tx, { ids, limit: eventsAtOnce })
  if (forgotten.length === eventsAtOnce) return true
  await tx
    .deleteFrom('automation_forgotten')
    .where('contact_id', 'in', idsOf(ids, 'text'))
    .execute()
  return true
}

/** The ids of the mails that a run has sent. */
const mailsIn = (history: string): string[] =>
  linesOf(history).flatMap((line) => {
    const id: unknown = Array.isArray(line) ? line[3] : undefined
    return typeof id === 'string' ? [id] : []
  })

/** The live runs of these contacts. */
const runsOf = prepared<{ ids: string }, EndingRow>((db, { ids }) =>
  db
    .selectFrom('automation_live')
    .select(['id', 'step_id', 'history', 'started_at'])
    .where('contact_id', 'in', idsOf(ids, 'text')),
)

/** Takes the contact out of ended runs; returns their histories, which name the mails. */
const blankRuns = prepared<{ ids: string }, { id: string; history: string }>((db, { ids }) =>
  db
    .updateTable('automation_runs')
    .set({ contact_id: null })
    .where('contact_id', 'in', idsOf(ids, 'text'))
    .returning(['id', 'history']),
)

/** Empties the histories of ended runs. */
const emptyRuns = prepared<{ runs: string }, unknown>((db, { runs }) =>
  db.updateTable('automation_runs').set({ history: '[]' }).where('id', 'in', idsOf(runs, 'text')),
)

/** Deletes the merge values of mails that have not left. */
const forgetMerges = prepared<{ ids: string }, unknown>((db, { ids }) =>
  db.deleteFrom('email_merges').where('email_id', 'in', idsOf(ids, 'text')),
)

/** Deletes how often these contacts entered automations. */
const forgetEntries = prepared<{ ids: string }, unknown>((db, { ids }) =>
  db.deleteFrom('automation_entries').where('contact_id', 'in', idsOf(ids, 'text')),
)

/** Deletes when automations begin for these contacts by a date of theirs. */
const forgetDates = prepared<{ ids: string }, unknown>((db, { ids }) =>
  db.deleteFrom('automation_date_due').where('contact_id', 'in', idsOf(ids, 'text')),
)

/** Deletes some of the events of these contacts. */
const forgetEvents = prepared<{ ids: string; limit: number }, { id: number }>(
  (db, { ids, limit }) =>
    db
      .deleteFrom('automation_events')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('automation_events')
          .select('id')
          .where('contact_id', 'in', idsOf(ids, 'text'))
          .limit(limit),
      )
      .returning('id'),
)

/** Notes contacts that still have events. */
const leaveForLater = preparedInsertAll('automation_forgotten')
