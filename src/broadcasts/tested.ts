import { idsIn, prepared, type Read, type Tx } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { hasRest } from './variant.js'

/*
 * Who has got a mail of a campaign's test. A contact's place in the test is a hash (`variant.ts`), so somebody who
 * joins the audience after the test may have the place of one of its people: they get the chosen version, as all others
 * do.
 */

/** Writes down who gets a mail of the test, in the transaction of these mails. */
export async function noteTested(
  tx: Tx,
  broadcast: Broadcast,
  contactIds: readonly string[],
): Promise<void> {
  if (contactIds.length === 0 || !hasRest(broadcast)) return
  await tx
    .insertInto('broadcast_tested')
    .values(contactIds.map((contact_id) => ({ broadcast_id: broadcast.id, contact_id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Which of some contacts got a mail of the test; undefined: nobody has written it down, as in older releases. */
export async function testedAmong(
  read: Read,
  broadcastId: string,
  contactIds: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  const [any] = await anyTested(read, { broadcastId })
  if (any === undefined) return undefined
  const rows = await read
    .selectFrom('broadcast_tested')
    .select('contact_id')
    .where('broadcast_id', '=', broadcastId)
    .where('contact_id', 'in', idsIn(contactIds, 'text'))
    .execute()
  return new Set(rows.map(({ contact_id }) => contact_id))
}

const anyTested = prepared<{ broadcastId: string }, { contact_id: string }>((db, { broadcastId }) =>
  db
    .selectFrom('broadcast_tested')
    .select('contact_id')
    .where('broadcast_id', '=', broadcastId)
    .limit(1),
)
