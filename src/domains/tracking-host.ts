import { canonicalName, type DnsAnswer, type Resolver } from '../dns/index.js'
import type { Read, Store } from '../store/index.js'
import { checkedName, type Domain, domainById, findDomain } from './domain.js'
import type { DnsRecord, RecordCheck } from './records.js'

/**
 * Sets or removes the host of a domain's tracked links. It is used once `verifyDomain` sees the DNS lead it here; for a
 * domain that is trusted by word, that is trusted too.
 */
export async function setTrackingHost(
  { store }: { store: Store },
  accountId: string,
  name: string,
  host: string | null,
): Promise<Domain> {
  const domain = await findDomain(store.read, accountId, name)
  const checked = host === null ? null : checkedName(host)
  await store.write(async (tx) => {
    const { trusted } = await domainById(tx, accountId, domain.id)
    const tracking = {
      tracking_host: checked,
      tracking_host_ready: checked !== null && trusted ? 1 : 0,
    }
    await tx.updateTable('domains').set(tracking).where('id', '=', domain.id).execute()
  })
  return await findDomain(store.read, accountId, name)
}

/** Whether a host leads where its record wants: by a CNAME, or by addresses of its own (RFC 1034 §3.6.2). */
export async function checkTrackingHost(
  resolver: Resolver,
  record: DnsRecord,
): Promise<Pick<RecordCheck, 'state' | 'found' | 'advice'>> {
  const names = await resolver.cname(record.host)
  if (names.kind === 'failed') return unanswered(names.cause)
  if (recordsOf(names).includes(canonicalName(record.value))) {
    return { state: 'ok', found: [record.value], advice: '' }
  }
  const [there, wanted] = await Promise.all([
    addressesOf(resolver, record.host),
    addressesOf(resolver, record.value),
  ])
  const cause = there.failed ?? wanted.failed
  if (cause !== undefined) return unanswered(cause)
  const found = [...recordsOf(names), ...there.addresses].map((value) => value.slice(0, 500))
  if (there.addresses.some((address) => wanted.addresses.includes(address))) {
    return { state: 'ok', found, advice: '' }
  }
  return found.length === 0
    ? { state: 'missing', found, advice: `Publish this CNAME record at ${record.host}` }
    : { state: 'different', found, advice: `Replace what is at ${record.host} by the wanted value` }
}

/** All addresses of a host, and why the DNS could not be asked. */
async function addressesOf(resolver: Resolver, host: string) {
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)])
  const failed = answers.find((answer) => answer.kind === 'failed')
  return { addresses: answers.flatMap(recordsOf), failed: failed?.cause }
}

/** An empty list for an answer without records. */
const recordsOf = <T>(answer: DnsAnswer<T>): readonly T[] =>
  answer.kind === 'records' ? answer.records : []

/** A DNS that does not answer proves nothing. */
const unanswered = (cause: string) => ({
  state: 'unknown' as const,
  found: [],
  advice: `The DNS did not answer (${cause}). Try again later`,
})

/** A host of customers' links, which may want a certificate. */
export interface TrackingHost {
  accountId: string
  domain: string
  host: string
  /** Whether the DNS was seen to lead it here. */
  isReady: boolean
}

/** The hosts of all accounts' links, the oldest domain first; several accounts may have the same host. */
export async function trackingHosts(read: Read): Promise<TrackingHost[]> {
  const rows = await read
    .selectFrom('domains')
    .select(['account_id', 'name', 'tracking_host', 'tracking_host_ready'])
    .where('tracking_host', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    accountId: row.account_id,
    domain: row.name,
    host: row.tracking_host ?? '',
    isReady: row.tracking_host_ready === 1,
  }))
}
