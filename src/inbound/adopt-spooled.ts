import type { Clock } from '../clock/index.js'
import type { Store } from '../store/index.js'

/**
 * Has mails read here that another, now dead appliance took in; resolves with how many. They enter the list like mails
 * that the operator wants read again (`Spool.takeBack`); parked ones stay parked.
 */
export async function adoptSpooled(
  { byRow, node }: Pick<Store, 'byRow' | 'node'>,
  clock: Pick<Clock, 'now'>,
  from: number,
): Promise<number> {
  const now = clock.now()
  const { numUpdatedRows } = await byRow((tx) =>
    tx
      .updateTable('inbound_spool')
      .set((eb) => ({ node: node.number, parked_at: eb.fn.coalesce('parked_at', eb.val(now)) }))
      .where('node', '=', from)
      .executeTakeFirstOrThrow(),
  )
  return Number(numUpdatedRows)
}
