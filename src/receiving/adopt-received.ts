import type { Store } from '../store/index.js'

/**
 * Moves to this appliance the reading of mails that another appliance took before it went away; resolves with how many.
 */
export async function adoptReceived(
  { byRow, node }: Pick<Store, 'byRow' | 'node'>,
  from: number,
): Promise<number> {
  const { numUpdatedRows } = await byRow((tx) =>
    tx
      .updateTable('received')
      .set({ node: node.number })
      .where('node', '=', from)
      .where('due_at', 'is not', null)
      .executeTakeFirstOrThrow(),
  )
  return Number(numUpdatedRows)
}
