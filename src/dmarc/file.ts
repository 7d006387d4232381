import { dayMs, dayNumber } from '../clock/index.js'
import { domainsAbove } from '../domains/index.js'
import type { Aggregate, DmarcRecord, DmarcReport, TlsReport } from '../reports/index.js'
import type { Tx } from '../store/index.js'
import { addSources } from './rows.js'

/** What became of each report of a mail. */
export type FiledAggregate = 'counted' | 'seen before' | 'of no domain here' | 'implausible'

/** A mail that contains reports. */
type Read = Exclude<Aggregate, { kind: 'unreadable' }>

// Reports of a day come within days, and some receivers' clocks are wrong: reports outside these bounds are not
// counted.
const oldestMs = 30 * dayMs
const longestMs = 8 * dayMs
const aheadMs = 2 * dayMs
// Reports without a signature are taken for a shorter time: anybody can write one about any day.
const oldestUnprovenMs = 7 * dayMs
// How many reports are counted for a domain and day of arrival, whatever strangers send.
const maxReports = { proven: 1_000, unproven: 100 }

/** Counts the reports of a mail for the domains that are verified here; a report that comes again does not count. */
export async function fileAggregate(
  tx: Tx,
  aggregate: Read,
  now: number,
): Promise<FiledAggregate[]> {
  const proof = 'domain' in aggregate.signer ? aggregate.signer.domain : ''
  const filed: FiledAggregate[] = []
  const at = { proof, now }
  if (aggregate.kind === 'dmarc') {
    for (const report of aggregate.reports) filed.push(await fileDmarc(tx, report, at))
  } else {
    for (const report of aggregate.reports) filed.push(await fileTls(tx, report, at))
  }
  return filed
}

/** Who signed the report (empty: nobody), and when it came. */
interface At {
  proof: string
  now: number
}

/** Counts one DMARC report (RFC 9990) for each domain of ours that its records are about. */
async function fileDmarc(tx: Tx, report: DmarcReport, { proof, now }: At): Promise<FiledAggregate> {
  const of = reportOf(report, proof, {
    begins: report.beginsAt * 1_000,
    ends: report.endsAt * 1_000,
  })
  if (!isPlausible(of, now)) return 'implausible'
  // A report is about one policy, but its records may be about names below that domain, which are domains of their own
  // here.
  const byName = new Map<string, DmarcRecord[]>()
  for (const record of report.records) {
    const name = record.headerFrom || report.domain
    byName.set(name, [...(byName.get(name) ?? []), record])
  }
  const byDomain = new Map<string, DmarcRecord[]>()
  for (const [name, records] of [...byName].slice(0, maxNames)) {
    for (const { id } of await domainsAbove(tx, name)) {
      byDomain.set(id, [...(byDomain.get(id) ?? []), ...records])
    }
  }
  let outcome: FiledAggregate = 'of no domain here'
  for (const [domainId, records] of byDomain) {
    const day = dayNumber(now)
    const messages = records.reduce((sum, { count }) => sum + count, 0)
    const { policy } = report
    const isNew = await enter(tx, 'dmarc_reports', {
      domain_id: domainId,
      day,
      ...of,
      policy: policy.slice(0, 20),
      messages,
    })
    if (!isNew) {
      if (outcome !== 'counted') outcome = 'seen before'
      continue
    }
    const { reporter, begins_at } = of
    const about = { domainId, day: dayNumber(begins_at), reporter, proven: proof !== '' }
    await addSources(tx, about, records)
    outcome = 'counted'
  }
  return outcome
}

/** Counts one TLS report (RFC 8460) for each domain of ours for which it has a policy. */
async function fileTls(tx: Tx, report: TlsReport, { proof, now }: At): Promise<FiledAggregate> {
  const { beginsAt: begins, endsAt: ends } = report
  const of = reportOf(report, proof, { begins, ends })
  if (!isPlausible(of, now)) return 'implausible'
  let outcome: FiledAggregate = 'of no domain here'
  const day = dayNumber(now)
  // A domain may have a policy of each kind, and of names below it.
  const byDomain = new Map<string, { successes: number; failures: number; types: Types }>()
  for (const { domain, successes, failures, types } of report.policies.slice(0, maxNames)) {
    for (const { id } of await domainsAbove(tx, domain)) {
      const sums = byDomain.get(id) ?? { successes: 0, failures: 0, types: {} }
      byDomain.set(id, sums)
      sums.successes += successes
      sums.failures += failures
      for (const [type, n] of Object.entries(types)) sums.types[type] = (sums.types[type] ?? 0) + n
    }
  }
  for (const [id, { types, ...sums }] of byDomain) {
    const isNew = await enter(tx, 'tls_reports_received', {
      domain_id: id,
      day,
      ...of,
      ...sums,
      failure_types: JSON.stringify(types),
    })
    if (isNew) outcome = 'counted'
    else if (outcome !== 'counted') outcome = 'seen before'
  }
  return outcome
}

type Types = Record<string, number>

// Names below one domain of ours; nobody sends from more.
const maxNames = 100

/** What the row of a report says of it, whatever it is about. */
function reportOf(
  { organization, reportId }: { organization: string; reportId: string },
  proof: string,
  { begins, ends }: { begins: number; ends: number },
) {
  return {
    reporter: reporterOf(organization, proof),
    proof,
    report_id: printable(reportId).slice(0, 200),
    begins_at: begins,
    ends_at: ends,
  }
}

/** The reporter in its own words where its signature proves them, otherwise the domain that signed. */
function reporterOf(organization: string, proof: string): string {
  const name = printable(organization).slice(0, 100)
  if (proof === '') return name
  const [first = ''] = name.toLowerCase().split(/[\s.!,]/)
  return first.length > 2 && proof.split('.').includes(first) ? name : proof
}

/** Takes out control characters: the text is shown in terminals and on pages. */
const printable = (text: string) => text.replace(/[^\P{C}]/gu, '').trim()

/** What tells whether a report can be true. */
interface Period {
  proof: string
  report_id: string
  begins_at: number
  ends_at: number
}

/** Whether its times can be right, and whether it has an id by which a repeat is known. */
function isPlausible({ begins_at, ends_at, report_id, proof }: Period, now: number): boolean {
  const oldest = proof === '' ? oldestUnprovenMs : oldestMs
  return (
    report_id !== '' &&
    begins_at >= now - oldest &&
    begins_at <= ends_at &&
    ends_at - begins_at <= longestMs &&
    ends_at <= now + aheadMs
  )
}

/** False: the report is there already, or that day has too many. */
async function enter<T extends 'dmarc_reports' | 'tls_reports_received'>(
  tx: Tx,
  table: T,
  row: Parameters<ReturnType<typeof tx.insertInto<T>>['values']>[0] & {
    domain_id: string
    day: number
    proof: string
  },
): Promise<boolean> {
  const most = row.proof === '' ? maxReports.unproven : maxReports.proven
  const { n } = await tx
    .selectFrom(table as 'dmarc_reports')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('day', '=', row.day)
    .where('domain_id', '=', row.domain_id)
    .where('proof', row.proof === '' ? '=' : '<>', '')
    .executeTakeFirstOrThrow()
  if (n >= most) return false
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto(table)
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows !== 0n
}
