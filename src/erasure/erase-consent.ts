import { idsIn, type Tx } from '../store/index.js'
import { type Replaced, without } from './replace.js'

/**
 * The consent record stays as a proof, without the address. Opt-outs of topics are deleted: nothing is mailed there.
 */
export async function eraseConsent(tx: Tx, accountId: string, replaced: Replaced): Promise<void> {
  const rows = await tx
    .selectFrom('consent')
    .select(['id', 'detail'])
    .where('account_id', '=', accountId)
    .where('address', '=', replaced.address)
    .execute()
  for (const { id, detail } of rows) {
    const change = { address: replaced.name, detail: without(replaced, detail) }
    await tx.updateTable('consent').set(change).where('id', '=', id).execute()
  }
  const left = await tx
    .deleteFrom('topic_opt_outs')
    .where('account_id', '=', accountId)
    .where('address', '=', replaced.address)
    .returning('topic_id')
    .execute()
  await tx
    .updateTable('topics')
    .set(({ eb }) => ({ opted_out: eb('opted_out', '-', 1) }))
    .where(
      'id',
      'in',
      idsIn(
        left.map(({ topic_id }) => topic_id),
        'text',
      ),
    )
    .execute()
}
