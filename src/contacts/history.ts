import { type ConsentEvent, consentHistory, recordConsent } from '../consent/index.js'
import { addressKey } from '../mime/index.js'
import { idsIn, prepared, type Read, type Tx } from '../store/index.js'

/** An address's consent record, oldest first, whether or not it is a contact now. */
export async function contactHistory(
  read: Read,
  accountId: string,
  email: string,
): Promise<ConsentEvent[]> {
  const imported = await originsOf(read, { accountId, address: addressKey(email) })
  const events = [...imported.map(toEvent), ...(await consentHistory(read, accountId, email))]
  return events.sort((a, b) => a.at - b.at)
}

/** Moves the origins by imports into the consent record, before the memberships are deleted. */
export async function keepOrigins(
  tx: Tx,
  listId: string,
  contactIds: readonly string[],
): Promise<void> {
  const rows = await origins(tx)
    .where('list_members.list_id', '=', listId)
    .where('list_members.contact_id', 'in', idsIn(contactIds, 'text'))
    .execute()
  for (const row of rows) await recordConsent(tx, row.account_id, row.address, toEvent(row))
}

/**
 * By which import contacts came to a list. The membership has this, so that an import writes no
 * consent record for each row.
 */
const origins = (read: Read) =>
  read
    .selectFrom('list_members')
    .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
    .innerJoin('contact_imports', 'contact_imports.id', 'list_members.import_id')
    .select([
      'contacts.account_id',
      'contacts.address',
      'list_members.list_id',
      'list_members.added_at',
      'list_members.line',
      'contact_imports.file',
      'contact_imports.agreed',
    ])

interface Origin {
  list_id: string
  added_at: number
  line: number | null
  file: string
  agreed: string | null
}

const originsOf = prepared<{ accountId: string; address: string }, Origin>(
  (db, { accountId, address }) =>
    origins(db)
      .where('contacts.account_id', '=', accountId)
      .where('contacts.address', '=', address),
)

/** An import in the form of the consent record. */
function toEvent(row: Origin): ConsentEvent {
  const { list_id: listId, added_at: at, line, file, agreed } = row
  const more = { ...(line !== null && { line }), ...(agreed !== null && { note: agreed }) }
  return { at, kind: 'imported', detail: { listId, file, ...more } }
}
