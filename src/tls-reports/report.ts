import { dayMs } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { insertOwnMail } from '../emails/index.js'
import type { Store, Tx } from '../store/index.js'
import type { UploadTo } from './asked-for.js'

/** A report, ready to be sent. */
export interface PackedReport {
  domain: string
  reportId: string
  fileName: string
  gzip: Buffer
}

/** What is decided for a domain and a day; with an empty `reportId` the domain wants no report. */
interface Decided {
  day: number
  domain: string
  reportId: string
  now: number
  mails?: readonly { uri: string; mail: Parameters<typeof insertOwnMail>[2] }[]
  uploads?: readonly Pick<UploadTo, 'uri'>[]
}

/**
 * Writes the decision, and the mails and uploads that send the report, once: for a domain and a day that are already
 * decided it writes nothing. Resolves with the streams to ring the outbound threads for.
 */
export async function writeReport(
  tx: Tx,
  { day, domain, reportId, now, mails = [], uploads = [] }: Decided,
  deps?: { store: Store; config: Pick<Config, 'outbound'> },
): Promise<StreamDue[]> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('tls_reports')
    .values({ day, domain, report_id: reportId, decided_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n || deps === undefined) return []
  const due: StreamDue[] = []
  const post = { day, domain, tries: 0, next_at: now, cause: '' }
  const { retry } = deps.config.outbound
  // RFC 8460 §5.5: it is tried for a day.
  const aDay = { ...retry, transactional: { ...retry.transactional, maxAge: dayMs } }
  for (const { uri, mail } of mails) {
    due.push(...((await insertOwnMail({ store: deps.store, retry: aDay }, tx, mail)) ?? []))
    // From here on the queue takes care of it.
    const values = { ...post, uri, email_id: mail.id, state: 'sent' as const }
    await tx.insertInto('tls_report_posts').values(values).execute()
  }
  for (const { uri } of uploads) {
    const values = { ...post, uri, email_id: null, state: 'waiting' as const }
    await tx.insertInto('tls_report_posts').values(values).execute()
  }
  return due
}
