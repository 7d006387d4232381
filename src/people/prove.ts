import type { Tx, UserRow } from '../store/index.js'
import { endSessions } from './session.js'
import { clearTotp } from './totp.js'

/**
 * Whoever had a link that an owner was shown could make a log-in for an address that is not theirs. Who has shown
 * that it is theirs takes it over: nothing of what somebody else may have added is a way in any more.
 */
export async function takeOver(
  tx: Tx,
  { id, name }: Pick<UserRow, 'id' | 'name'>,
  given: { name?: string; password: string; now: number },
): Promise<void> {
  await clearTotp(tx, id)
  await tx.deleteFrom('passkeys').where('user_id', '=', id).execute()
  await tx.deleteFrom('known_places').where('user_id', '=', id).execute()
  await tx.deleteFrom('entry_links').where('user_id', '=', id).execute()
  await endSessions(tx, id)
  const { password, now: proved_at } = given
  await tx
    .updateTable('users')
    .set({ name: given.name ?? name, password, proved_at })
    .where('id', '=', id)
    .execute()
}
