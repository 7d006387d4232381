import { ApiError } from '../errors/index.js'
import type { Read, Tx, UserRow } from '../store/index.js'
import type { MemberRole } from './actions.js'
import type { PeopleDeps } from './deps.js'
import { makeResetLink } from './entry-link.js'
import { takeBackInvitationsOf } from './inviter.js'
import { setRole } from './membership.js'
import { findByAddress, findPerson, insertPerson, type Person } from './person.js'
import { endSessions } from './session.js'
import { clearTotp } from './totp.js'

/** A person as operators see them. */
export interface ListedPerson extends Person {
  isDisabled: boolean
  /** Whether the address is proved to be theirs. */
  isProved: boolean
  hasTotp: boolean
  hasPassword: boolean
  passkeys: number
  /** Whether a provider of OpenID Connect knows them. */
  isBound: boolean
  accounts: number
  createdAt: number
  lastLoginAt: number | null
}

/** People by address, from one on; `startsWith` narrows it down. */
export async function listPeople(
  read: Read,
  { startsWith = '', after = '', limit }: { startsWith?: string; after?: string; limit: number },
): Promise<ListedPerson[]> {
  const prefix = startsWith.trim().toLowerCase()
  const rows = await listed(read)
    .where('address', '>', after)
    .where('address', '>=', prefix)
    .where('address', '<', `${prefix}\u{10ffff}`)
    .orderBy('address')
    .limit(limit)
    .execute()
  return rows.map(toListed)
}

/** One person by the id. Throws a 404. */
export async function findListedPerson(read: Read, personId: string): Promise<ListedPerson> {
  const row = await listed(read).where('users.id', '=', personId).executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', 'There is no such person')
  return toListed(row)
}

const listed = (read: Read) =>
  read
    .selectFrom('users')
    .selectAll()
    .select((eb) => [
      eb
        .selectFrom('passkeys')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('user_id', '=', 'users.id')
        .as('passkeys'),
      eb
        .exists(eb.selectFrom('identities').select('subject').whereRef('user_id', '=', 'users.id'))
        .as('isBound'),
      eb
        .selectFrom('memberships')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('user_id', '=', 'users.id')
        .as('accounts'),
    ])

const toListed = (
  row: UserRow & { passkeys: number | null; isBound: unknown; accounts: number | null },
): ListedPerson => ({
  id: row.id,
  email: row.email,
  name: row.name,
  isOperator: row.operator === 1,
  timeZone: row.time_zone,
  isDisabled: row.disabled_at !== null,
  hasTotp: row.totp_secret !== null,
  isProved: row.proved_at !== null,
  hasPassword: row.password !== null,
  passkeys: row.passkeys ?? 0,
  isBound: Boolean(row.isBound),
  accounts: row.accounts ?? 0,
  createdAt: row.created_at,
  lastLoginAt: row.last_login_at,
})

/** By address, as an operator types it. Throws a 404. */
export async function personNamed(read: Read, email: string): Promise<UserRow> {
  const row = await findByAddress(read, email)
  if (row === undefined) throw new ApiError('not_found', `Nobody has the address ${email}`)
  return row
}

/** Adds a person without a password. Resolves with the path of a link to choose one, valid for 15 minutes. */
export async function addPerson(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  given: {
    email: string
    name: string
    isOperator: boolean
    membership: { accountId: string; role: MemberRole } | undefined
  },
): Promise<{ person: Person; path: string }> {
  const now = clock.now()
  const id = store.ids.uuid()
  return await store.write(async (tx) => {
    // The address counts as proved: an operator vouches for it, and hands the link over.
    const made = { ...given, id, password: null, isProved: true, now }
    const person = await insertPerson(tx, made)
    const { membership } = given
    if (membership !== undefined) await setRole(tx, membership.accountId, id, membership.role, now)
    return { person, path: await makeResetLink(tx, id, now) }
  })
}

/**
 * A link for somebody who can no longer log in; the old password ends when the link is used. With `withFactors` the
 * authenticator, recovery codes, passkeys and the name at a provider are removed at once, and all sessions end.
 */
export async function resetPerson(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  personId: string,
  { withFactors }: { withFactors: boolean },
): Promise<{ path: string }> {
  const now = clock.now()
  return await store.write(async (tx) => {
    const user = await findPerson(tx, personId)
    if (withFactors) {
      await clearTotp(tx, user.id)
      await tx.deleteFrom('passkeys').where('user_id', '=', user.id).execute()
      await tx.deleteFrom('identities').where('user_id', '=', user.id).execute()
      await endSessions(tx, user.id)
    }
    return { path: await makeResetLink(tx, user.id, now) }
  })
}

/** From this moment on nobody can log in as this person. Throws a 409 for the last operator. */
export async function disablePerson(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  personId: string,
): Promise<void> {
  const now = clock.now()
  await store.write((tx) => disableWithin(tx, personId, now))
}

/** The same in a write of the caller's. */
export async function disableWithin(tx: Tx, personId: string, now: number): Promise<void> {
  const user = await findPerson(tx, personId)
  await refuseLastOperator(tx, user)
  await tx.updateTable('users').set({ disabled_at: now }).where('id', '=', user.id).execute()
  await endSessions(tx, user.id)
  await tx.deleteFrom('entry_links').where('user_id', '=', user.id).execute()
  await takeBackInvitationsOf(tx, user.id)
}

/** Lets somebody log in again. Throws a 404. */
export async function enablePerson(
  { store }: Pick<PeopleDeps, 'store'>,
  personId: string,
): Promise<void> {
  await store.write((tx) => enableWithin(tx, personId))
}

/** The same in a write of the caller's. */
export async function enableWithin(tx: Tx, personId: string): Promise<void> {
  const user = await findPerson(tx, personId)
  await tx.updateTable('users').set({ disabled_at: null }).where('id', '=', user.id).execute()
}

/**
 * Makes somebody an operator, or ends that; their sessions end. Throws a 409 for an unproved address, and for the
 * last operator.
 */
export async function setOperator(
  { store }: Pick<PeopleDeps, 'store'>,
  personId: string,
  isOperator: boolean,
): Promise<void> {
  await store.write(async (tx) => {
    await changeOperator(tx, await findPerson(tx, personId), isOperator)
  })
}

/** The same in a write of the caller's. */
export async function changeOperator(tx: Tx, user: UserRow, isOperator: boolean): Promise<void> {
  if (isOperator) refuseUnproved(user)
  else await refuseLastOperator(tx, user)
  const operator = isOperator ? 1 : 0
  await tx.updateTable('users').set({ operator }).where('id', '=', user.id).execute()
  // A rise of rights needs a log-in of its own.
  await endSessions(tx, user.id)
  if (!isOperator) await takeBackInvitationsOf(tx, user.id)
}

function refuseUnproved({ proved_at, email }: UserRow): void {
  if (proved_at !== null) return
  const message = `It is not certain that ${email} is the person who logs in, because an owner of an account had their link. Hand them one for a new password first ('posthorn user reset ${email}')`
  throw new ApiError('conflict', message)
}

async function refuseLastOperator(tx: Tx, user: UserRow): Promise<void> {
  if (user.operator === 0 || user.disabled_at !== null) return
  const other = await tx
    .selectFrom('users')
    .select('id')
    .where('operator', '=', 1)
    .where('disabled_at', 'is', null)
    .where('id', '<>', user.id)
    .limit(1)
    .executeTakeFirst()
  if (other !== undefined) return
  const message = 'There is no other operator: make somebody else one first'
  throw new ApiError('conflict', message)
}
