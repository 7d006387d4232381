import { messageOf } from '../errors/index.js'
import { isPassing } from '../store/index.js'
import { checkBackups, checkDisk, checkJobs, checkOperator, checkRuntime } from './appliance.js'
import { checkBlocklists } from './blocklists.js'
import { checkAcme, checkListenerCertificates, checkPublicCertificate } from './certificates.js'
import { checkDatabase } from './database.js'
import { checkDmarcReports, checkTlsReports } from './dmarc-reports.js'
import { judgeDns } from './dns.js'
import { checkDnsUpdates } from './dns-updates.js'
import { checkDomains, checkOwnSpf } from './domain-records.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import { checkHostNames } from './host-names.js'
import { checkLogInProvider } from './log-in-provider.js'
import { checkNodes } from './nodes.js'
import { checkOutboundPort } from './outbound-port.js'
import { checkReports } from './reports.js'
import { checkReturnPaths } from './return-path.js'
import { findSources } from './source-addresses.js'
import { checkTime } from './time.js'
import { checkWarmUp } from './warm-up.js'

/**
 * Examines the DNS first, then everything else side by side. Never rejects for a fault outside; a check that takes too
 * long, or itself fails, is a finding.
 */
export async function examine(given: DoctorDeps): Promise<Finding[]> {
  const dns = await judgeDns(given)
  const deps = { ...given, resolver: dns.resolver }
  const sources = findSources(deps)
  const checks: Record<string, () => Promise<Finding[]>> = {
    'outbound-port': () => checkOutboundPort(deps),
    helo: async () => checkHostNames(deps, await sources),
    spf: () => checkOwnSpf(deps),
    domains: () => checkDomains(deps),
    'dmarc-reports': () => checkDmarcReports(deps),
    'tls-reports': () => checkTlsReports(deps),
    listener: () => checkReturnPaths(deps),
    report: () => checkReports(deps),
    'public-certificate': () => checkPublicCertificate(deps),
    certificate: () => checkListenerCertificates(deps),
    acme: () => checkAcme(deps),
    'dns-server': () => checkDnsUpdates(deps),
    clock: () => checkTime(deps),
    jobs: () => checkJobs(deps),
    runtime: () => checkRuntime(deps),
    'warm-up': () => checkWarmUp(deps),
    database: () => checkDatabase(deps),
    nodes: () => checkNodes(deps),
    disk: () => checkDisk(deps),
    backup: () => checkBackups(deps),
    operator: () => checkOperator(deps),
    'log-in-provider': () => checkLogInProvider(deps),
    blocklist: async () => checkBlocklists(deps, await sources),
  }
  const found = await Promise.all(
    Object.entries(checks).map(([name, run]) => bounded(deps, name, run)),
  )
  const all = dns.finding.state === 'ok' ? found.flat() : withoutDns(found.flat())
  return [dns.finding, ...all].map(({ lacksDns: _, ...finding }) => judgedForRoute(deps, finding))
}

/** The silent DNS is told once; checks that need it are named, each once, without a fix of their own. */
function withoutDns(findings: readonly Finding[]): Finding[] {
  const told = findings.map((finding) => {
    if (finding.lacksDns !== true) return finding
    return { ...finding, found: 'needs the DNS', fix: '' }
  })
  const keyOf = ({ check, subject, found }: Finding) => `${check} ${subject} ${found}`
  return [...new Map(told.map((finding) => [keyOf(finding), finding])).values()]
}

/** The subject of a finding about a check that was not done, whose own subjects are then unknown. */
export const undoneCheck = 'this check'

// A check has several steps in turn: lookups, then connections to some hosts.
const stepsPerCheck = 6

/**
 * Each check has a time of its own: one server that does not answer must not keep the others from
 * being told.
 */
function bounded(
  { clock, config }: DoctorDeps,
  name: string,
  run: () => Promise<Finding[]>,
): Promise<Finding[]> {
  const of = findingsOf(name, undoneCheck)
  const ms = config.doctor.timeout * stepsPerCheck
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () =>
      resolve([of.unchecked(`not done after ${ms / 1_000} s`, 'try again')]),
    )
    void run()
      .catch((error: unknown) => [
        isPassing(error)
          ? of.unchecked('needs the database, which cannot be used just now')
          : of.unchecked(
              `could not be made: ${messageOf(error)}`,
              'report it: this is a fault of Posthorn',
            ),
      ])
      .then((findings) => {
        cancel()
        resolve(findings)
      })
  })
}

// These checks matter even to an appliance whose mail stays inside.
const localChecks = [
  'backup',
  'clock',
  'disk',
  'report',
  'jobs',
  'operator',
  'log-in-provider',
  'runtime',
]

/** In sandbox mode nothing leaves: findings about the outside are told, but are no failures yet. */
function judgedForRoute({ config }: DoctorDeps, finding: Finding): Finding {
  if (config.outbound.route !== 'sandbox' || finding.state !== 'fail') return finding
  return localChecks.includes(finding.check) ? finding : { ...finding, state: 'warn' }
}
