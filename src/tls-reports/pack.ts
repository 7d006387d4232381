import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { dayMs, isoDay } from '../clock/index.js'
import type { Store } from '../store/index.js'
import { makeDocument } from './document.js'
import type { PackedReport } from './report.js'
import type { ReportSender } from './sender.js'

/** The report about a domain's sessions of a day, as it is mailed and uploaded: the same bytes each time. */
export async function packReport(
  { store }: { store: Store },
  { day, domain, sender }: { day: number; domain: string; sender: ReportSender },
): Promise<PackedReport> {
  const unique = createHash('sha256').update(`${day} ${domain} ${sender.domain}`).digest('hex')
  const date = isoDay(day * dayMs)
  const reportId = `${date}.${unique.slice(0, 16)}@${sender.domain}`
  const { organization, contact } = sender
  const of = { day, domain, organization, contact, reportId }
  const document = await makeDocument(store.read, of)
  const [begin, end] = [(day * dayMs) / 1_000, ((day + 1) * dayMs) / 1_000 - 1]
  return {
    domain,
    reportId,
    // RFC 8460 §5.1.
    fileName: `${sender.domain}!${domain}!${begin}!${end}!${unique.slice(0, 8)}.json.gz`,
    gzip: gzipSync(JSON.stringify(document, undefined, 2)),
  }
}
