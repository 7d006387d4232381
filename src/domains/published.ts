import type { StaticHost, StaticRecords } from '../dns/index.js'
import type { Read } from '../store/index.js'
import { listDomains } from './domain.js'
import { domainRecords, type RecordSettings } from './records.js'

/**
 * What the DNS would answer if every account's records were published as shown. The sandbox inbox verifies against it,
 * so that its verdicts are those of a receiver after publication.
 */
export async function publishedRecords(
  read: Read,
  settings: RecordSettings,
): Promise<StaticRecords> {
  const accounts = await read.selectFrom('accounts').select('id').execute()
  const table: Record<string, { mx: StaticHost['mx'] & object; txt: string[] }> = {}
  for (const { id } of accounts) {
    for (const domain of await listDomains(read, id)) {
      for (const record of domainRecords(domain, settings)) {
        // Only records that mail servers ask for: browsers look up a host for links, and this DNS does not serve them.
        if (record.type === 'CNAME') continue
        table[record.host] ??= { mx: [], txt: [] }
        const host = table[record.host]
        if (host === undefined) continue
        // Two accounts may have the same domain; its SPF and DMARC records still stand there once.
        if (record.type === 'MX') host.mx = [{ preference: 10, exchange: settings.heloName }]
        else if (!host.txt.includes(record.value)) host.txt.push(record.value)
      }
    }
  }
  return table
}
