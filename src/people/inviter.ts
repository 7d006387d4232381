import type { InvitationRow, Read, Tx } from '../store/index.js'
import { may } from './actions.js'

/** Who invites. */
export interface Inviter {
  /** Null: whoever uses the command line. */
  id: string | null
  /** Name and address, as a name alone can be chosen by anybody. */
  name: string
  /** Whom they hand a link to is taken for who they say. */
  isOperator: boolean
}

/** Somebody at a page, as who they invite reads of them. */
export const inviterOf = (person: {
  id: string
  name: string
  email: string
  isOperator: boolean
}): Inviter => ({
  id: person.id,
  isOperator: person.isOperator,
  name: `${person.name} (${person.email})`,
})

/** Whether who made an invitation could still make it now. */
export async function mayStillInvite(
  read: Read,
  { inviter_id, account_id }: Pick<InvitationRow, 'inviter_id' | 'account_id'>,
): Promise<boolean> {
  if (inviter_id === null) return true
  const inviter = await read
    .selectFrom('users')
    .leftJoin('memberships', (join) =>
      join
        .onRef('memberships.user_id', '=', 'users.id')
        .on('memberships.account_id', '=', account_id ?? ''),
    )
    .select(['operator', 'role'])
    .where('users.id', '=', inviter_id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (inviter === undefined) return false
  // An operator invites into every account, by pages of their own.
  return inviter.operator === 1 || (inviter.role !== null && may(inviter.role, 'team.write'))
}

/** The open invitations of who may invite no more lead nowhere: all, or those into one account. */
export async function takeBackInvitationsOf(
  tx: Tx,
  inviterId: string,
  accountId?: string,
): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('inviter_id', '=', inviterId)
    .where('accepted_at', 'is', null)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .execute()
}
