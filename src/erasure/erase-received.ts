import { removeReceived } from '../receiving/index.js'
import { behind, rowsALook, type Walk } from './erase-logs.js'
import { without } from './replace.js'

/** Deletes mail that came in from the address or to it: it is the person's own writing. */
export const eraseReceived: Walk = async (tx, { accountId, replaced }, { after = '' }) => {
  const rows = await tx
    .selectFrom('received')
    .select(['id', 'mail_from', 'header_from', 'recipient', 'subject'])
    .where('account_id', '=', accountId)
    .where('id', '>', String(after))
    .orderBy('id')
    .limit(rowsALook)
    .execute()
  const ids = rows.flatMap(({ id, ...texts }) =>
    // A longer address that contains this one is somebody else's.
    Object.values(texts).some((text) => without(replaced, text) !== text) ? [id] : [],
  )
  if (ids.length > 0) await removeReceived(tx, ids)
  return behind(rows, 'id')
}
