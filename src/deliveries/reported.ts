import { type DeliveryReportsRow, prepared, type Tx } from '../store/index.js'

/** What reports have told of a delivery so far. */
export type Reported = Omit<DeliveryReportsRow, 'delivery_id' | 'delays'> & { delays: string[] }

/**
 * A row by its key, and not the log of events: that one is as long as others make it (whoever has a
 * return path can send reports for weeks), and the account's plan takes from it what is old.
 */
export async function reportedOf(tx: Tx, deliveryId: number): Promise<Reported> {
  const [row] = await rowOf(tx, { deliveryId })
  if (row === undefined) return { delays: [], bounce: -1, complaint: 0, unsubscribed: 0 }
  const { bounce, complaint, unsubscribed } = row
  return { delays: JSON.parse(row.delays) as string[], bounce, complaint, unsubscribed }
}

/** Remembers it, in the transaction of what follows from the report. */
export async function setReported(tx: Tx, deliveryId: number, reported: Reported): Promise<void> {
  await upsert(tx, {
    ...reported,
    delivery_id: deliveryId,
    delays: JSON.stringify(reported.delays),
  })
}

/** Deletes, some at a time, the rows of deliveries below `firstId`, of which no report is taken any more. */
export async function forgetReported(tx: Tx, firstId: number, most: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('delivery_reports')
    .where('delivery_id', 'in', (query) =>
      query
        .selectFrom('delivery_reports')
        .select('delivery_id')
        .where('delivery_id', '<', firstId)
        .orderBy('delivery_id')
        .limit(most),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

const rowOf = prepared<{ deliveryId: number }, DeliveryReportsRow>((db, { deliveryId }) =>
  db.selectFrom('delivery_reports').selectAll().where('delivery_id', '=', deliveryId),
)

const upsert = prepared<DeliveryReportsRow, unknown>((db, values) => {
  const { delays, bounce, complaint, unsubscribed } = values
  const told = { delays, bounce, complaint, unsubscribed }
  return db
    .insertInto('delivery_reports')
    .values({ delivery_id: values.delivery_id, ...told })
    .onConflict((conflict) => conflict.column('delivery_id').doUpdateSet(told))
})
