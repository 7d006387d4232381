import { type Read, storedJson, type Tx } from '../store/index.js'
import type { Domain } from './domain.js'
import { type DnsRecord, domainRecords, type RecordCheck, type RecordSettings } from './records.js'

/** What a look at the DNS found. */
export interface DomainLook {
  at: number
  records: readonly RecordCheck[]
}

/** Keeps only the last look at a domain. */
export async function keepLook(tx: Tx, domainId: string, { at, records }: DomainLook) {
  const domain = await tx
    .selectFrom('domains')
    .select('id')
    .where('id', '=', domainId)
    .executeTakeFirst()
  // The domain was deleted during the look.
  if (domain === undefined) return
  const row = { at, records: JSON.stringify(records) }
  await tx
    .insertInto('domain_looks')
    .values({ domain_id: domainId, ...row })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(row))
    .execute()
}

/** Undefined where nobody has looked yet. */
export async function lastLook(read: Read, domainId: string): Promise<DomainLook | undefined> {
  const row = await read
    .selectFrom('domain_looks')
    .select(['at', 'records'])
    .where('domain_id', '=', domainId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  // What is stored of the look is broken: the next look writes it anew.
  const records = storedJson(row.records)
  return Array.isArray(records) ? { at: row.at, records } : undefined
}

/** The records of a domain as they are wanted now, each with what the last look at it found. */
export async function readRecords(
  read: Read,
  domain: Domain,
  settings: RecordSettings,
): Promise<{ at: number | null; records: (DnsRecord & { seen: RecordCheck | undefined })[] }> {
  const look = await lastLook(read, domain.id)
  const records = domainRecords(domain, settings).map((wanted) => ({
    ...wanted,
    // If the wanted record has changed since, such as the host of links, nobody has looked for it.
    seen: look?.records.find(({ host, value }) => host === wanted.host && value === wanted.value),
  }))
  return { at: look?.at ?? null, records }
}
