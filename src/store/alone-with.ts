import { idsOf, locked } from './fragments.js'
import { prepared } from './prepared.js'
import { runnerOf } from './running.js'
import type { Tx } from './writing.js'

/**
 * From here to the end of the transaction, no other transaction goes on that asks for one of these accounts: what
 * follows may read, decide and write by row, and nobody else changes what it reads. An engine with one writer at a
 * time needs nothing for this.
 */
export async function aloneWith(tx: Tx, accountIds: ReadonlySet<string>): Promise<void> {
  if (runnerOf(tx).engine === 'sqlite') return
  await lockAccounts(tx, { ids: JSON.stringify([...accountIds]) })
}

// Always in the same order, so that two transactions do not wait for each other.
const lockAccounts = prepared<{ ids: string }, { id: string }>((db, { ids }) =>
  db
    .selectFrom('accounts')
    .select('id')
    .where('id', 'in', idsOf(ids, 'text'))
    .orderBy('id')
    .modifyEnd(locked),
)
