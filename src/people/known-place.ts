import { dayMs } from '../clock/index.js'
import { firstUuidAt, type Read, type Tx } from '../store/index.js'

const lastsMs = 30 * dayMs

/** Whether somebody logged in from an address within about 30 days. */
export async function isKnownPlace(
  read: Read,
  userId: string,
  clientAddressKey: string,
): Promise<boolean> {
  const place = await read
    .selectFrom('known_places')
    .select('seen_at')
    .where('user_id', '=', userId)
    .where('address_key', '=', clientAddressKey)
    .executeTakeFirst()
  return place !== undefined
}

/** Notes that somebody logged in from there. */
export async function noteKnownPlace(
  tx: Tx,
  userId: string,
  clientAddressKey: string,
  now: number,
): Promise<void> {
  await tx
    .insertInto('known_places')
    .values({ user_id: userId, address_key: clientAddressKey, seen_at: now })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'address_key']).doUpdateSet({ seen_at: now }),
    )
    .execute()
}

async function forgetPastPlaces(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('known_places')
    .where('seen_at', '<', now - lastsMs)
    .execute()
}

// How long the outcome of an invitation can be seen.
const invitationsMs = 30 * dayMs

/** Deletes what nobody can use any more: expired sessions and links, old invitations, and old known places. */
export async function forgetPastEntries(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('sessions').where('expires_at', '<', now).execute()
  await tx.deleteFrom('entry_links').where('expires_at', '<', now).execute()
  await forgetPastPlaces(tx, now)
  await tx
    .deleteFrom('invitations')
    .where('id', '<', firstUuidAt(now - invitationsMs))
    .execute()
}
