import type { StaticHost, StaticRecords } from '../dns/index.js'
import type { Read } from '../store/index.js'
import { listDomains } from './domain.js'
import { domainRecords, type RecordSettings } from './records.js'

/**
 * What the DNS would answer if every account's records were published as shown: the sandbox inbox
 * verifies against it, so that its verdicts are those of a receiver after publication.
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
        table[record.host] ??= { mx: [], txt: [] }
        const host = table[record.host]
        if (record.type === 'TXT') host?.txt.push(record.value)
        else if (host !== undefined) host.mx = [{ preference: 10, exchange: settings.heloName }]
      }
    }
  }
  return table
}
