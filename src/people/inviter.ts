import type { InvitationRow, Read, Tx } from '../store/index.js'
import { may } from './actions.js'

/** Who invites. */
export interface Inviter {
  /** Null: whoever uses the command line. */
  id: string | null
  /** Name and address, as anybody can choose any name. */
  name: string
  /** An operator is trusted to hand the link to the right person. */
  isOperator: boolean
}

/** A person at a page, in the words for the invited person. */
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

/** Whether the inviter could still make the invitation now. */
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
  // An operator may invite into every account, by the operator's pages.
  return inviter.operator === 1 || (inviter.role !== null && may(inviter.role, 'team.write'))
}

/**
 * Ends the open invitations of a person who may no longer invite: all, or those into one account.
 */
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
