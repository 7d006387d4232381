import { sql } from 'kysely'
import { addressKey } from '../mime/index.js'
import { cell, contains, type Read, rowsOf } from '../store/index.js'
import type { MailFacts } from './tally.js'

/** A row of the consent record that says that somebody has left. */
export interface Leaving {
  id: number
  at: number
  accountId: string
  address: string
  emailId: string
}

/**
 * Which of some leavings are the first of their recipient by their mail, so that each person counts once: somebody
 * who leaves four topics at once, or comes back and leaves again, has several rows. Where the first row was deleted
 * with age, the rows of people by campaign tell. One statement for all; each search ends at the first row.
 */
export async function firstLeavings(
  read: Read,
  leavings: readonly Leaving[],
  facts: ReadonlyMap<string, MailFacts>,
): Promise<Set<number>> {
  const cells = leavings.map(({ id, at, accountId, address, emailId }) => {
    const broadcastId = facts.get(emailId)?.broadcastId ?? ''
    return [id, at, accountId, address, addressKey(address), emailId, broadcastId]
  })
  const rows = await read
    .selectFrom(rowsOf(JSON.stringify(cells)))
    .select(cell(0, 'integer').as('id'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('consent')
            .select('consent.id')
            .where('consent.account_id', '=', cell(2, 'text'))
            .where('consent.address', '=', cell(3, 'text'))
            .where('consent.id', '<', cell(0, 'integer'))
            .where('consent.kind', 'in', ['unsubscribed', 'left_topic'])
            // In the form that `recordConsent` writes; quotes inside a text are escaped there.
            .where(sql<boolean>`consent.detail like '%"emailId":"' || (${cell(5, 'text')}) || '"%'`)
            .where(({ not }) => not(contains('consent.detail', '"by":"return"'))),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('contacts')
            .innerJoin('broadcast_people', 'broadcast_people.contact_id', 'contacts.id')
            .select('contacts.id')
            .where('contacts.account_id', '=', cell(2, 'text'))
            .where('contacts.address', '=', cell(4, 'text'))
            .where('broadcast_people.broadcast_id', '=', cell(6, 'text'))
            .where('broadcast_people.left_at', '<', cell(1, 'integer')),
        ),
      ),
    )
    .execute()
  return new Set(rows.map(({ id }) => Number(id)))
}
