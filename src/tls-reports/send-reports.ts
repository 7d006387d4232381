import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { gzipSync } from 'node:zlib'
import { type Clock, dayMs, isoDay } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import type { Resolver } from '../dns/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Read, Store, TlsReportPostRow } from '../store/index.js'
import { type Destination, readAskedFor } from './asked-for.js'
import { makeDocument } from './document.js'
import { composeReportMail } from './mail.js'
import { type PackedReport, writeReport } from './report.js'
import { findReportSender, type ReportSender } from './sender.js'
import { uploadReport } from './upload.js'

export interface TlsReportDeps {
  store: Store
  clock: Clock
  log: Log
  resolver: Resolver
  config: Pick<Config, 'tlsReports' | 'outbound' | 'webhooks'>
  /** Tells the outbound threads of the mails that were written. */
  ring(due: readonly StreamDue[]): void
  /** Ends the run between two domains. */
  signal: AbortSignal
  /** Tests: authorities (PEM) instead of the usual ones. */
  ca?: string
}

export interface TlsReportRun {
  summary: string
  problems: string[]
  figures: { asked: number; reported: number; uploaded: number; failed: number }
}

// RFC 8460 §4.1: reports are spread over the hours after midnight, so that they come not all at once.
const spreadMs = 4 * 3_600_000
// The outbound threads write the last minute of a day in the next one.
const settledMs = 5 * 60_000
const atOnce = 20
// Whoever has many names under a wildcard could let each ask for reports to somebody else's address.
const mostAPlace = 100
// With the pauses between them nearly a day (RFC 8460 §5.5: for 24 hours).
const retriesMs = [5, 15, 30, 60, 120, 240, 360, 480].map((minutes) => minutes * 60_000)

/**
 * Makes and sends the reports about yesterday (UTC) that are due by now, and tries again what was not
 * taken. To be called every few minutes: what is done is remembered, and never done again.
 */
export async function sendTlsReports(deps: TlsReportDeps): Promise<TlsReportRun> {
  const { store, clock, config, log, signal } = deps
  const figures = { asked: 0, reported: 0, uploaded: 0, failed: 0 }
  if (!config.tlsReports.enabled) return { summary: 'They are switched off', problems: [], figures }
  const day = Math.floor(clock.now() / dayMs) - 1
  const sender = await findReportSender(store.read, config.tlsReports, config.outbound.heloName)
  if (sender === undefined) {
    log.info({}, 'No report about TLS is sent: no verified domain can send it')
    const summary = 'No verified domain can send reports about TLS'
    return { summary, problems: [], figures }
  }
  // Each upload under way listens to it; Node's warning means leaks.
  setMaxListeners(0, signal)
  const due = await undecided(deps, day)
  const given = due.length === 0 ? new Map<string, number>() : await givenOn(store.read, day)
  await each(due, signal, async (domain) => {
    const sent = await decide(deps, { day, domain, sender, given })
    if (sent === undefined) return
    figures.asked++
    if (sent > 0) figures.reported++
  })
  for (const outcome of await upload(deps, sender)) figures[outcome]++
  const { asked, reported, uploaded } = figures
  const summary = `Domains looked at: ${asked}; that want a report: ${reported}; uploaded: ${uploaded}`
  return { summary, problems: [], figures }
}

/** Those with sessions on the day whose time has come, and of which nothing is decided. */
async function undecided({ store, clock }: TlsReportDeps, day: number): Promise<string[]> {
  const rows = await store.read
    .selectFrom('tls_sessions')
    .select('domain')
    .distinct()
    .where('day', '=', day)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tls_reports')
            .select('tls_reports.day')
            .where('tls_reports.day', '=', day)
            .whereRef('tls_reports.domain', '=', 'tls_sessions.domain'),
        ),
      ),
    )
    .execute()
  const sinceMs = clock.now() - (day + 1) * dayMs
  return rows.map(({ domain }) => domain).filter((domain) => delayOf(domain, day) <= sinceMs)
}

/** The same for a domain and a day however often it is asked, and any for another. */
function delayOf(domain: string, day: number): number {
  const share = createHash('sha256').update(`${day} ${domain}`).digest().readUInt32BE() / 2 ** 32
  return settledMs + Math.floor(share * (spreadMs - settledMs))
}

/** How many reports about a day each place has got by now: the domain of an address, or the host of an upload. */
async function givenOn(read: Read, day: number): Promise<Map<string, number>> {
  const posts = await read
    .selectFrom('tls_report_posts')
    .select('uri')
    .where('day', '=', day)
    .execute()
  const given = new Map<string, number>()
  for (const { uri } of posts) given.set(placeOf(uri), (given.get(placeOf(uri)) ?? 0) + 1)
  return given
}

const placeOf = (uri: string) =>
  URL.canParse(uri) && new URL(uri).protocol === 'https:'
    ? new URL(uri).hostname
    : uri.slice(uri.lastIndexOf('@') + 1).toLowerCase()

/** Resolves with how many it goes to; undefined: the DNS does not say now. */
async function decide(
  deps: TlsReportDeps,
  {
    day,
    domain,
    sender,
    given,
  }: { day: number; domain: string; sender: ReportSender; given: Map<string, number> },
): Promise<number | undefined> {
  const { store, resolver, clock, log } = deps
  const answer = await resolver.txt(`_smtp._tls.${domain}`)
  if (answer.kind === 'failed') return undefined
  const asked = answer.kind === 'records' ? readAskedFor(answer.records) : []
  const wanted = asked.filter(({ uri }) => {
    const count = (given.get(placeOf(uri)) ?? 0) + 1
    if (count <= mostAPlace) given.set(placeOf(uri), count)
    else
      log.info(
        { domain, uri },
        'No report about TLS is sent: its receiver has had enough for a day',
      )
    return count <= mostAPlace
  })
  const now = clock.now()
  if (wanted.length === 0) {
    await store.write(async (tx) => {
      await writeReport(tx, { day, domain, reportId: '', now })
    })
    return 0
  }
  const report = await pack(deps, { day, domain, sender })
  const mails = await Promise.all(
    wanted.flatMap((to) => (to.kind === 'mail' ? [mailOf(deps, { report, sender, to, now })] : [])),
  )
  const uploads = wanted.filter(({ kind }) => kind === 'upload')
  const { reportId } = report
  const about = { day, domain, reportId, now, mails, uploads }
  const posted = await store.write((tx) => writeReport(tx, about, deps))
  deps.ring(posted)
  log.info({ domain, reportId, to: wanted.map(({ uri }) => uri) }, 'A report about TLS was made')
  return wanted.length
}

async function pack(
  { store }: TlsReportDeps,
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

async function mailOf(
  { store }: TlsReportDeps,
  of: {
    report: PackedReport
    sender: ReportSender
    to: Extract<Destination, { kind: 'mail' }>
    now: number
  },
) {
  const { report, sender, to, now } = of
  const { domain, reportId } = report
  const id = store.ids.uuid()
  const messageId = `<${id}@${sender.domain}>`
  // RFC 8460 §5.3 has this form.
  const subject = `Report Domain: ${domain} Submitter: ${sender.domain} Report-ID: <${reportId}>`
  const written = { ...report, sender, to: to.address, messageId, subject, now }
  const raw = await composeReportMail(written)
  const { domainId, from } = sender
  return { uri: to.uri, mail: { id, domainId, from, to: to.address, subject, messageId, raw, now } }
}

/** Tries the uploads that are due, each noted before it begins, so that a crash cannot repeat it for ever. */
async function upload(
  deps: TlsReportDeps,
  sender: ReportSender,
): Promise<('uploaded' | 'failed')[]> {
  const { store, clock, signal } = deps
  const now = clock.now()
  const today = Math.floor(now / dayMs)
  const due = await store.read
    .selectFrom('tls_report_posts')
    .selectAll()
    .where('day', '>=', today - 2)
    .where('state', '=', 'waiting')
    .where('next_at', '<=', now)
    // Where each result was lost in a crash, too.
    .where('tries', '<=', retriesMs.length)
    .execute()
  const outcomes: ('uploaded' | 'failed')[] = []
  await each(due, signal, async (post) => {
    const outcome = await uploadOne(deps, sender, post)
    if (outcome !== undefined) outcomes.push(outcome)
  })
  return outcomes
}

async function uploadOne(
  deps: TlsReportDeps,
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
  const { gzip, reportId } = await pack(deps, { day, domain, sender })
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

/** Some at a time; ends between two of them when the appliance stops. */
async function each<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const next = async () => {
    for (const item of left) {
      if (signal.aborted) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}
