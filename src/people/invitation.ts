import { dayMs } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Ids, InvitationRow, Read, Tx, UserRow } from '../store/index.js'
import type { Role } from './actions.js'
import type { PeopleDeps } from './deps.js'
import { type Inviter, mayStillInvite } from './inviter.js'
import { checkedEmail, findByAddress } from './person.js'
import { hashOf, looksLikeToken, newToken } from './session.js'

/** An invitation that has not been accepted yet. */
export interface Invitation {
  id: string
  /** Null: as an operator. */
  accountId: string | null
  accountName: string | null
  email: string
  role: Role
  invitedBy: string
  createdAt: number
  expiresAt: number
}

const lastsMs = 7 * dayMs
// Bounded, as each may lead to a mail.
const mostOpen = 100

/**
 * Invites an address into an account, or as an operator; a new invitation replaces the previous one. Resolves with
 * the path of its page, which is shown only now, and with another path only for the mail: whoever comes by the latter
 * has proved the address. For an operator's invitation both are the same. Throws a 422, or a 409 for somebody who is
 * already in.
 */
export async function invite(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  given: NewInvitation,
): Promise<InvitationLinks> {
  const how = { ids: store.ids, now: clock.now() }
  return await store.write((tx) => inviteWithin(how, tx, given))
}

/** Who is invited, into what, by whom. */
interface NewInvitation {
  accountId: string | null
  email: string
  role: Role
  inviter: Inviter
}

/** Where the invitation is accepted. */
interface InvitationLinks {
  id: string
  path: string
  mailPath: string
}

/** The same within the caller's write. */
export async function inviteWithin(
  { ids, now }: { ids: Pick<Ids, 'uuid'>; now: number },
  tx: Tx,
  given: NewInvitation,
): Promise<InvitationLinks> {
  const { accountId, role, inviter } = given
  const { email, address } = checkedEmail(given.email)
  if ((role === 'operator') !== (accountId === null)) {
    throw new Error('An operator is invited to the appliance, everybody else to an account')
  }
  const id = ids.uuid()
  const link = newToken()
  const proof = inviter.isOperator ? link : newToken()
  await refuseMember(tx, accountId, address)
  const open = await openInvitations(tx, accountId).execute()
  const mine = open.filter((one) => one.address === address).map((one) => one.id)
  for (const old of mine) await tx.deleteFrom('invitations').where('id', '=', old).execute()
  const others = open.filter(({ expires_at }) => expires_at > now).length - mine.length
  if (others >= mostOpen) {
    throw new ApiError('conflict', `There are ${mostOpen} open invitations: take some back first`)
  }
  await tx
    .insertInto('invitations')
    .values({
      id,
      account_id: accountId,
      email,
      address,
      role,
      token_hash: link.hash,
      proof_hash: proof.hash,
      invited_by: inviter.name,
      inviter_id: inviter.id,
      created_at: now,
      expires_at: now + lastsMs,
      accepted_at: null,
    })
    .execute()
  return { id, path: `/invite/${link.token}`, mailPath: `/invite/${proof.token}` }
}

async function refuseMember(tx: Tx, accountId: string | null, address: string): Promise<void> {
  const user = await findByAddress(tx, address)
  if (user === undefined) return
  const isIn =
    accountId === null
      ? user.operator === 1
      : (await tx
          .selectFrom('memberships')
          .select('role')
          .where('user_id', '=', user.id)
          .where('account_id', '=', accountId)
          .executeTakeFirst()) !== undefined
  if (!isIn) return
  const message = `${user.email} is ${accountId === null ? 'an operator' : 'a member'} already`
  throw new ApiError('conflict', message, { fields: { field: 'email' } })
}

/** The open invitations of an account, or those of operators (null), the newest first. */
export async function listInvitations(
  read: Read,
  accountId: string | null,
  now: number,
): Promise<Invitation[]> {
  const rows = await openInvitations(read, accountId).execute()
  return rows.filter(({ expires_at }) => expires_at > now).map((row) => shown(row, null))
}

const openInvitations = (read: Read, accountId: string | null) =>
  read
    .selectFrom('invitations')
    .selectAll()
    .where('account_id', accountId === null ? 'is' : '=', accountId)
    .where('accepted_at', 'is', null)
    .orderBy('id', 'desc')
    .limit(10 * mostOpen)

/** Revokes an invitation. Throws a 404. */
export async function revokeInvitation(
  { store }: Pick<PeopleDeps, 'store'>,
  accountId: string | null,
  id: string,
): Promise<{ email: string }> {
  return await store.write(async (tx) => {
    const row = await tx
      .selectFrom('invitations')
      .select('email')
      .where('id', '=', id)
      .where('account_id', accountId === null ? 'is' : '=', accountId)
      .where('accepted_at', 'is', null)
      .executeTakeFirst()
    if (row === undefined) throw new ApiError('not_found', 'There is no such open invitation')
    await tx.deleteFrom('invitations').where('id', '=', id).execute()
    return row
  })
}

/** An invitation by one of its links. */
export interface FoundInvitation {
  invitation: Invitation
  /** The person with that address. */
  person: UserRow | undefined
  /** Whoever has this link has proved the address. */
  isProof: boolean
  /**
   * There is nobody with the address yet, or only somebody who never proved it, whose place the
   * person takes.
   */
  choosesPassword: boolean
}

/** Finds an invitation by its link's token. Throws a 404 that says what to do. */
export async function findInvitation(
  read: Read,
  token: string,
  now: number,
): Promise<FoundInvitation> {
  const hash = hashOf(token)
  const row = looksLikeToken(token)
    ? await read
        .selectFrom('invitations')
        .leftJoin('accounts', 'accounts.id', 'invitations.account_id')
        .selectAll('invitations')
        .select('accounts.name as accountName')
        .where((eb) => eb.or([eb('token_hash', '=', hash), eb('proof_hash', '=', hash)]))
        .executeTakeFirst()
    : undefined
  const isOpen = row !== undefined && row.accepted_at === null && row.expires_at > now
  if (!isOpen || !(await mayStillInvite(read, row))) {
    const message =
      'This invitation was accepted already, was taken back, or is older than 7 days: ask who sent it for another'
    throw new ApiError('not_found', message)
  }
  const person = await findByAddress(read, row.address)
  const isProof = row.proof_hash?.equals(hash) === true
  const choosesPassword = person === undefined || (isProof && person.proved_at === null)
  return { invitation: shown(row, row.accountName), person, isProof, choosesPassword }
}

const shown = (row: InvitationRow, accountName: string | null): Invitation => ({
  id: row.id,
  accountId: row.account_id,
  accountName,
  email: row.email,
  role: row.role,
  invitedBy: row.invited_by,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})
