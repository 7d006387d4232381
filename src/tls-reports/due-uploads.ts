import { someAtOnce } from '../bounded/index.js'
import { dayMs, dayNumber } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Store, TlsReportPostRow } from '../store/index.js'
import { packReport } from './pack.js'
import type { ReportSender } from './sender.js'
import { type UploadDeps, uploadReport } from './upload.js'

/** What trying uploads needs. */
interface DueUploadDeps extends Omit<UploadDeps, 'allow'> {
  store: Store
  log: Log
  config: Pick<Config, 'webhooks'>
}

// The pauses before each next try, together nearly a day (RFC 8460 §5.5: for 24 hours).
const retriesMs = [5, 15, 30, 60, 120, 240, 360, 480].map((minutes) => minutes * 60_000)
// Uploads at the same time.
const atOnce = 20

/** Tries the uploads that are due, each noted before it begins, so that a crash cannot repeat it for ever. */
export async function uploadDue(
  deps: DueUploadDeps,
  sender: ReportSender,
): Promise<('uploaded' | 'failed')[]> {
  const { store, clock, signal } = deps
  const now = clock.now()
  const today = dayNumber(now)
  const due = await store.read
    .selectFrom('tls_report_posts')
    .selectAll()
    .where('day', '>=', today - 2)
    .where('state', '=', 'waiting')
    .where('next_at', '<=', now)
    // Also where crashes lost all results.
    .where('tries', '<=', retriesMs.length)
    .execute()
  const outcomes: ('uploaded' | 'failed')[] = []
  await someAtOnce(due, { atOnce, signal }, async (post) => {
    const outcome = await uploadOne(deps, sender, post)
    if (outcome !== undefined) outcomes.push(outcome)
  })
  return outcomes
}

/** One try; undefined where another one follows. */
async function uploadOne(
  deps: DueUploadDeps,
  sender: ReportSender,
  { day, domain, uri, tries }: TlsReportPostRow,
): Promise<'uploaded' | 'failed' | undefined> {
  const { store, clock, log, signal, config } = deps
  const set = (values: Partial<Pick<TlsReportPostRow, 'state' | 'cause' | 'tries' | 'next_at'>>) =>
    store.write((tx) =>
      tx
        .updateTable('tls_report_posts')
        .set(values)
        .where('day', '=', day)
        .where('domain', '=', domain)
        .where('uri', '=', uri)
        .execute(),
    )
  const pauseMs = retriesMs[tries]
  await set({ tries: tries + 1, next_at: clock.now() + (pauseMs ?? dayMs) })
  const { gzip, reportId } = await packReport(deps, { day, domain, sender })
  const { allow } = config.webhooks
  const cause = await uploadReport({ ...deps, allow }, uri, gzip).catch(messageOf)
  if (cause === undefined) {
    await set({ state: 'sent', cause: '' })
    return 'uploaded'
  }
  if (signal.aborted) return undefined
  const isLast = pauseMs === undefined
  await set({ cause: cause.slice(0, 300), ...(isLast && { state: 'failed' }) })
  log.info({ domain, reportId, uri, cause, isLast }, 'A report about TLS was not taken')
  return isLast ? 'failed' : undefined
}
