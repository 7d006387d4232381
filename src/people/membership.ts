import { applianceAccountId } from '../accounts/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, Tx } from '../store/index.js'
import type { MemberRole, Role } from './actions.js'
import { takeBackInvitationsOf } from './inviter.js'
import type { Person } from './person.js'

export interface Membership {
  accountId: string
  accountName: string
  role: MemberRole
}

/** The accounts in which a person is, by name. */
export async function membershipsOf(read: Read, personId: string): Promise<Membership[]> {
  return await read
    .selectFrom('memberships')
    .innerJoin('accounts', 'accounts.id', 'memberships.account_id')
    .select(['accounts.id as accountId', 'accounts.name as accountName', 'role'])
    .where('user_id', '=', personId)
    .orderBy('accounts.name')
    .execute()
}

/**
 * A person's role in an account. Undefined: none, so the account does not exist for them. An operator who
 * is no member looks in as `operator`.
 */
export async function roleIn(
  read: Read,
  person: Person,
  accountId: string,
): Promise<{ account: { id: string; name: string }; role: Role } | undefined> {
  // This account's mail is the appliance's own, and it has no members: it has no pages, not even for operators.
  if (accountId === applianceAccountId) return undefined
  const row = await read
    .selectFrom('accounts')
    .leftJoin('memberships', (join) =>
      join
        .onRef('memberships.account_id', '=', 'accounts.id')
        .on('memberships.user_id', '=', person.id),
    )
    .select(['accounts.id', 'accounts.name', 'role'])
    .where('accounts.id', '=', accountId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const role = row.role ?? (person.isOperator ? 'operator' : undefined)
  return role && { account: { id: row.id, name: row.name }, role }
}

/** Who is in an account. */
export interface TeamMember {
  personId: string
  name: string
  email: string
  role: MemberRole
  isDisabled: boolean
  hasSecondFactor: boolean
  since: number
  lastLoginAt: number | null
}

const mostMembers = 1_000

/**
 * The members of an account, in the order in which people were added to the appliance; at most
 * 1,000.
 */
export async function listTeam(read: Read, accountId: string): Promise<TeamMember[]> {
  const rows = await read
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select(['users.id', 'name', 'email', 'role', 'disabled_at', 'last_login_at'])
    .select((eb) => [
      'memberships.created_at as since',
      eb('totp_secret', 'is not', null).as('hasCodes'),
      eb
        .exists(
          eb
            .selectFrom('passkeys')
            .select('passkeys.id')
            .whereRef('passkeys.user_id', '=', 'users.id'),
        )
        .as('hasPasskey'),
    ])
    .where('account_id', '=', accountId)
    .orderBy('memberships.user_id')
    .limit(mostMembers)
    .execute()
  return rows.map((row) => ({
    personId: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    isDisabled: row.disabled_at !== null,
    hasSecondFactor: Boolean(row.hasCodes) || Boolean(row.hasPasskey),
    since: row.since,
    lastLoginAt: row.last_login_at,
  }))
}

/**
 * Makes somebody a member, or changes a member's role; the last owner stays an owner. Only owners may have open
 * invitations.
 */
export async function setRole(
  tx: Tx,
  accountId: string,
  personId: string,
  role: MemberRole,
  now: number,
): Promise<void> {
  if (role !== 'owner') {
    await refuseLastOwner(tx, accountId, personId)
    await takeBackInvitationsOf(tx, personId, accountId)
  }
  await tx
    .insertInto('memberships')
    .values({ user_id: personId, account_id: accountId, role, created_at: now })
    .onConflict((conflict) => conflict.columns(['user_id', 'account_id']).doUpdateSet({ role }))
    .execute()
}

/**
 * Removes somebody from an account, and revokes their invitations. Throws a 404, and a 409 for the last owner.
 */
export async function removeMember(tx: Tx, accountId: string, personId: string): Promise<void> {
  await refuseLastOwner(tx, accountId, personId)
  const { numDeletedRows } = await tx
    .deleteFrom('memberships')
    .where('account_id', '=', accountId)
    .where('user_id', '=', personId)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) throw new ApiError('not_found', 'There is no such member')
  await takeBackInvitationsOf(tx, personId, accountId)
}

/** Without an owner nobody could invite one. An owner whose log-in is switched off does not count. */
async function refuseLastOwner(tx: Tx, accountId: string, personId: string): Promise<void> {
  const owners = await tx
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select('user_id')
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .where((eb) => eb.or([eb('disabled_at', 'is', null), eb('users.id', '=', personId)]))
    .limit(2)
    .execute()
  if (owners.length !== 1 || owners[0]?.user_id !== personId) return
  const message = 'The account has no other owner: make somebody else an owner first'
  throw new ApiError('conflict', message, { fields: { field: 'role' } })
}
