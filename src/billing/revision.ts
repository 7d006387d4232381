import { prepared, type Tx } from '../store/index.js'

/** An account whose state has changed since its runs were last looked at. */
export interface AccountRevision {
  accountId: string
  revision: number
}

/** The accounts that have changed: the index has only these. */
export const changedAccounts = prepared<object, AccountRevision>((db) =>
  db
    .selectFrom('subscriptions')
    .select(['account_id as accountId', 'revision'])
    .whereRef('revision', '<>', 'woken_revision'),
)

/** Notes that the runs are due that the account's state of that revision lets go on. */
export const noteWoken = prepared<AccountRevision, unknown>((db, { accountId, revision }) =>
  db
    .updateTable('subscriptions')
    .set({ woken_revision: revision })
    .where('account_id', '=', accountId),
)

/** The revision as it is now, inside a write. */
export async function revisionOf(tx: Tx, accountId: string): Promise<number> {
  const [row] = await revisions(tx, { accountId })
  return row?.revision ?? 0
}

/** By the primary key. */
const revisions = prepared<{ accountId: string }, { revision: number }>((db, { accountId }) =>
  db.selectFrom('subscriptions').select('revision').where('account_id', '=', accountId),
)
