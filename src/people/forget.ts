import { firstUuidAt, type Tx } from '../store/index.js'
import { forgetPastPlaces } from './known-place.js'

// What became of an invitation can be seen that long.
const invitationsMs = 30 * 86_400_000

/** Deletes what nobody can use any more: sessions and links that are over, old invitations, and where people were. */
export async function forgetPastEntries(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('sessions').where('expires_at', '<', now).execute()
  await tx.deleteFrom('entry_links').where('expires_at', '<', now).execute()
  await forgetPastPlaces(tx, now)
  await tx
    .deleteFrom('invitations')
    .where('id', '<', firstUuidAt(now - invitationsMs))
    .execute()
}
