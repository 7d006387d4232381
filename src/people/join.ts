import { noteAudit } from '../audit/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx, UserRow } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { type FoundInvitation, findInvitation } from './invitation.js'
import { actorOf, type Entered, noteLogIn } from './login.js'
import { setRole } from './membership.js'
import { checkPassword } from './password-rules.js'
import { checkedPersonName, findPerson, insertPerson } from './person.js'
import { beginSession, endSessions, renewSession, requireSession, type Visitor } from './session.js'
import { clearTotp, type OwnSession } from './totp.js'

/**
 * Lets an existing person join, who must be logged in. A new operator gets another value for the session
 * (`session`), and their other sessions end. Throws a 404, and a 403 for anybody else.
 */
export async function joinByInvitation(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  token: string,
  given: { userId: string; session: OwnSession },
): Promise<{ accountId: string | null; session: string | undefined }> {
  const now = clock.now()
  const { session } = given
  return await store.write(async (tx) => {
    await requireSession(tx, session.token, now)
    const found = await findInvitation(tx, token, now)
    const { email, accountId } = found.invitation
    const user = await findPerson(tx, given.userId)
    if (user.address !== email.toLowerCase()) {
      const message = `This invitation is for ${email}, and you are logged in as ${user.email}`
      throw new ApiError('forbidden', message)
    }
    await accept(tx, found, user, session.visitor, now)
    if (accountId !== null) return { accountId, session: undefined }
    await endSessions(tx, user.id, { but: session.id })
    return { accountId, session: await renewSession(tx, session.token, now) }
  })
}

/**
 * Lets a new person in, who chooses a name and a password; a log-in that never proved the address is replaced.
 * Throws a 404, a 409, a 422.
 */
export async function enterByInvitation(
  deps: PeopleDeps,
  token: string,
  given: { name: string; password: string; visitor: Visitor; cookie: string | undefined },
): Promise<Entered & { accountId: string | null }> {
  const { store, clock, passwords } = deps
  const { visitor, cookie } = given
  const { invitation } = await findInvitation(store.read, token, clock.now())
  checkedPersonName(given.name)
  checkPassword(given.password, { email: invitation.email, name: given.name })
  const password = await passwords.hash(given.password, invitation.id)
  const now = clock.now()
  const [newId, sessionId] = [store.ids.uuid(), store.ids.uuid()]
  return await store.write(async (tx) => {
    const found = await findInvitation(tx, token, now)
    const id = await admit(tx, found, { id: newId, name: given.name, password, now })
    const user = await findPerson(tx, id)
    await accept(tx, found, user, visitor, now)
    await noteLogIn(tx, user, visitor, 'invitation', now)
    const begun = { id: sessionId, userId: id, state: 'open', visitor, replaces: cookie } as const
    const entered = await beginSession(tx, { ...begun, now })
    return { state: 'open', token: entered, accountId: invitation.accountId }
  })
}

/**
 * Resolves with the id of the new person, or of the one whose place was taken. Throws a 409, a 422.
 */
async function admit(
  tx: Tx,
  { invitation: { email }, person, isProof, choosesPassword }: FoundInvitation,
  given: { id: string; name: string; password: string; now: number },
): Promise<string> {
  if (person === undefined || !choosesPassword) {
    return (await insertPerson(tx, { ...given, email, isOperator: false, isProved: isProof })).id
  }
  if (person.disabled_at !== null) {
    throw new ApiError('conflict', `The log-in of ${email} is switched off: ask an operator`)
  }
  await takeOver(tx, person, { ...given, name: checkedPersonName(given.name) })
  return person.id
}

async function accept(
  tx: Tx,
  { invitation: { id, accountId, role, invitedBy }, isProof }: FoundInvitation,
  user: UserRow,
  { clientAddressKey }: Visitor,
  now: number,
): Promise<void> {
  await tx.updateTable('invitations').set({ accepted_at: now }).where('id', '=', id).execute()
  if (isProof && user.proved_at === null) {
    await tx.updateTable('users').set({ proved_at: now }).where('id', '=', user.id).execute()
  }
  if (accountId === null || role === 'operator') {
    await tx.updateTable('users').set({ operator: 1 }).where('id', '=', user.id).execute()
  } else {
    await setRole(tx, accountId, user.id, role, now)
  }
  const detail = { role, invitedBy }
  const change = { actor: actorOf(user, clientAddressKey), accountId, action: 'team.join', detail }
  await noteAudit(tx, { ...change, target: user.email, at: now })
}

/**
 * Somebody who had a link that an owner saw could make a log-in for another person's address. Whoever proves the
 * address takes the log-in over: nothing that somebody else may have added gives access any more.
 */
export async function takeOver(
  tx: Tx,
  { id, name }: Pick<UserRow, 'id' | 'name'>,
  given: { name?: string; password: string | null; now: number },
): Promise<void> {
  await clearTotp(tx, id)
  await tx.deleteFrom('passkeys').where('user_id', '=', id).execute()
  await tx.deleteFrom('known_places').where('user_id', '=', id).execute()
  await tx.deleteFrom('entry_links').where('user_id', '=', id).execute()
  await tx.deleteFrom('identities').where('user_id', '=', id).execute()
  await endSessions(tx, id)
  const { password, now: proved_at } = given
  await tx
    .updateTable('users')
    .set({ name: given.name ?? name, password, proved_at })
    .where('id', '=', id)
    .execute()
}
