import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { someAtOnce } from '../bounded/index.js'
import { type Clock, dayMs, dayNumber, hourMs } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import type { Resolver } from '../dns/index.js'
import type { Log } from '../log/index.js'
import type { Read, Store } from '../store/index.js'
import { type Destination, readAskedFor } from './asked-for.js'
import { uploadDue } from './due-uploads.js'
import { composeReportMail } from './mail.js'
import { packReport } from './pack.js'
import { type PackedReport, writeReport } from './report.js'
import { findReportSender, type ReportSender } from './sender.js'

/** What making and sending reports needs. */
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

/** The result of a run, for the calendar. */
export interface TlsReportRun {
  summary: string
  problems: string[]
  figures: { asked: number; reported: number; uploaded: number; failed: number }
}

// RFC 8460 §4.1: reports are spread over the hours after midnight, so that they do not come all at once.
const spreadMs = 4 * hourMs
// No report is made sooner after midnight, because the outbound threads write the last minute of a day in the next
// one.
const settledMs = 5 * 60_000
// How many reports about a day one place gets: whoever has many names under a wildcard could have each of them ask
// for reports to somebody else's address.
const mostAPlace = 100
// How many domains' TXT records are looked up at the same time.
const atOnce = 20

/**
 * Makes and sends the reports about yesterday (UTC) that are due by now, and tries failed ones again. To be called
 * every few minutes: finished work is remembered, and never done again.
 */
export async function sendTlsReports(deps: TlsReportDeps): Promise<TlsReportRun> {
  const { store, clock, config, log, signal } = deps
  const figures = { asked: 0, reported: 0, uploaded: 0, failed: 0 }
  if (!config.tlsReports.enabled) return { summary: 'They are switched off', problems: [], figures }
  const day = dayNumber(clock.now()) - 1
  const sender = await findReportSender(store.read, config.tlsReports, config.outbound.heloName)
  if (sender === undefined) {
    log.info({}, 'No report about TLS is sent: no verified domain can send it')
    const summary = 'No verified domain can send reports about TLS'
    return { summary, problems: [], figures }
  }
  // Each upload under way has a listener here; Node's warning is about leaks.
  setMaxListeners(0, signal)
  const due = await undecided(deps, day)
  const given = due.length === 0 ? new Map<string, number>() : await givenOn(store.read, day)
  await someAtOnce(due, { atOnce, signal }, async (domain) => {
    const sent = await decide(deps, { day, domain, sender, given })
    if (sent === undefined) return
    figures.asked++
    if (sent > 0) figures.reported++
  })
  for (const outcome of await uploadDue(deps, sender)) figures[outcome]++
  const { asked, reported, uploaded } = figures
  const summary = `Domains looked at: ${asked}; that want a report: ${reported}; uploaded: ${uploaded}`
  return { summary, problems: [], figures }
}

/** Domains with sessions on the day whose time has come, and for which nothing is decided yet. */
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

/**
 * When after midnight (ms) a domain's report is due: always the same for a domain and a day, and different between
 * domains.
 */
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

/** The place that has to take it: the domain of an address, or the host of an upload. */
const placeOf = (uri: string) =>
  URL.canParse(uri) && new URL(uri).protocol === 'https:'
    ? new URL(uri).hostname
    : uri.slice(uri.lastIndexOf('@') + 1).toLowerCase()

/** Resolves with how many places the report goes to; undefined: the DNS gives no answer now. */
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
  const report = await packReport(deps, { day, domain, sender })
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

/** A report as a mail to one address. */
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
