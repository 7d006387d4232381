import type { Read } from '../store/index.js'

// An account with more owners has to tell them itself.
const mostOwners = 20

/** The addresses of the people who decide for an account in the dashboard, for mails to them. */
export async function ownerAddresses(read: Read, accountId: string): Promise<string[]> {
  const rows = await read
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select('users.email')
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .orderBy('users.id')
    .limit(mostOwners)
    .execute()
  return rows.map(({ email }) => email)
}
