import { never } from '../deliveries/index.js'
import { idsIn, type Read, type Tx } from '../store/index.js'

/** A report that cannot be filed, for the operator. */
export interface ParkedReport {
  id: number
  receivedAt: number
  parkedAt: number
  remoteAddress: string
  /** JSON as it was stored, which may be the broken part. */
  recipients: string
  /** Null: the report is going to be read again. */
  fault: string | null
}

// How many reports are kept parked, of half a mebibyte each at most.
export const maxParked = 200

/** Parks a report for the operator; beyond the bound the oldest one is dropped. */
export async function parkReport(
  tx: Tx,
  id: number,
  { fault, now }: { fault: string; now: number },
): Promise<void> {
  await tx
    .updateTable('inbound_spool')
    .set({ parked_at: now, fault: fault.slice(0, 500), due_at: never })
    .where('id', '=', id)
    .execute()
  const [beyond] = await tx
    .selectFrom('inbound_spool')
    .select('parked_at')
    .where('parked_at', 'is not', null)
    .orderBy('parked_at', 'desc')
    .offset(maxParked)
    .limit(1)
    .execute()
  if (beyond === undefined) return
  await tx.deleteFrom('inbound_spool').where('parked_at', '<=', beyond.parked_at).execute()
}

/** The newest first. */
export async function listParkedReports(read: Read): Promise<ParkedReport[]> {
  return await read
    .selectFrom('inbound_spool')
    .select(['id', 'received_at as receivedAt', 'remote_address as remoteAddress', 'recipients'])
    .select((eb) => eb.ref('parked_at').$notNull().as('parkedAt'))
    .select('fault')
    .where('parked_at', 'is not', null)
    .orderBy('parked_at', 'desc')
    .execute()
}

/** A parked report as it arrived, as far as it was kept. */
export async function readParkedReport(read: Read, id: number): Promise<Buffer | undefined> {
  const row = await read
    .selectFrom('inbound_spool')
    .select('raw')
    .where('id', '=', id)
    .where('parked_at', 'is not', null)
    .executeTakeFirst()
  return row?.raw
}

/**
 * Has parked reports read again, within a minute if the appliance runs; all of them without `ids`.
 */
export async function retryParkedReports(tx: Tx, ids?: readonly number[]): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('inbound_spool')
    .set({ fault: null })
    .where('parked_at', 'is not', null)
    .$if(ids !== undefined, (query) => query.where('id', 'in', idsIn(ids ?? [], 'integer')))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Drops parked reports without effect; all of them without `ids`. */
export async function discardParkedReports(tx: Tx, ids?: readonly number[]): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('inbound_spool')
    .where('parked_at', 'is not', null)
    .$if(ids !== undefined, (query) => query.where('id', 'in', idsIn(ids ?? [], 'integer')))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
