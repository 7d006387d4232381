import { noteAudit } from '../audit/index.js'
import { ApiError } from '../errors/index.js'
import type { UserRow } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { actorOf, countedCheck } from './login.js'
import { checkPassword } from './password-rules.js'
import { checkedPersonName, checkedZone, findPerson, isAsChecked } from './person.js'
import { makeRecoveryCodes } from './recovery-code.js'
import { endSessions, renewSession, type Visitor } from './session.js'
import type { OwnSession } from './totp.js'

/** Changes a person's name and time zone. Throws a 422 for bad values. */
export async function changeProfile(
  { store }: Pick<PeopleDeps, 'store'>,
  userId: string,
  given: { name: string; timeZone: string },
): Promise<void> {
  const [name, time_zone] = [checkedPersonName(given.name), checkedZone(given.timeZone)]
  await store.write(async (tx) => {
    await tx.updateTable('users').set({ name, time_zone }).where('id', '=', userId).execute()
  })
}

/**
 * Stores the zone of somebody's browser, unless they have one already. Throws a 422 for an unknown
 * zone.
 */
export async function guessZone(
  { store }: Pick<PeopleDeps, 'store'>,
  userId: string,
  given: string,
): Promise<void> {
  const time_zone = checkedZone(given)
  await store.write(async (tx) => {
    await tx
      .updateTable('users')
      .set({ time_zone })
      .where('id', '=', userId)
      .where('time_zone', 'is', null)
      .execute()
  })
}

/**
 * Changes the password of a person who knows the present one (without one, the `session` must have another proof),
 * and ends the other sessions. Returns the session's new value. Throws a 422, a 429, a 503.
 */
export async function changePassword(
  { store, clock, passwords, limits }: PeopleDeps,
  given: { user: UserRow; current: string; password: string; session: OwnSession },
): Promise<string> {
  const { user, session } = given
  const { visitor } = session
  checkPassword(given.password, user)
  // Counted only by the person, so that somebody at an open browser gets no more guesses by
  // changing the network.
  const from = { who: `proof ${user.id}` }
  const { isRight } = await countedCheck(limits, from, () =>
    passwords.checkOwn(given.current, user.password, user.id),
  )
  if (!isRight && user.password !== null) throw wrongCurrent()
  await limits.forgive(from)
  const password = await passwords.hash(given.password, user.id)
  const now = clock.now()
  return await store.write(async (tx) => {
    if (!(await isAsChecked(tx, user))) throw wrongCurrent()
    await tx.updateTable('users').set({ password }).where('id', '=', user.id).execute()
    await endSessions(tx, user.id, { but: session.id })
    // A link that was made before would change it again.
    await tx.deleteFrom('entry_links').where('user_id', '=', user.id).execute()
    const actor = actorOf(user, visitor.clientAddressKey)
    const detail = { by: 'the person' }
    await noteAudit(tx, { actor, accountId: null, action: 'password.change', detail, at: now })
    return await renewSession(tx, session.token, now)
  })
}

/** Replaces the recovery codes by ten new ones. Throws a 409 for a person without an authenticator. */
export async function renewRecoveryCodes(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  user: UserRow,
  { clientAddressKey }: Visitor,
): Promise<string[]> {
  return await store.write(async (tx) => {
    if ((await findPerson(tx, user.id)).totp_secret === null) {
      throw new ApiError('conflict', 'Recovery codes need an authenticator app: add one first')
    }
    const change = { actor: actorOf(user, clientAddressKey), accountId: null, at: clock.now() }
    await noteAudit(tx, { ...change, action: 'recovery-codes.renew' })
    return await makeRecoveryCodes(tx, user.id)
  })
}

/** Ends one session of a person, or all but one; resolves with how many. */
export const endOwnSession = (
  { store }: Pick<PeopleDeps, 'store'>,
  { id }: { id: string },
  which: { id: string } | { but: string },
): Promise<number> => store.write((tx) => endSessions(tx, id, which))

const wrongCurrent = () =>
  new ApiError('validation_error', 'The current password is wrong', {
    status: 422,
    fields: { field: 'current' },
  })
