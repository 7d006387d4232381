import { messageOf } from '../errors/index.js'
import { checkBackups } from './backups.js'
import { checkBlocklists } from './blocklists.js'
import { checkListenerCertificates, checkPublicCertificate } from './certificates.js'
import type { DoctorDeps } from './deps.js'
import { checkDisk } from './disk.js'
import { checkDmarcReports, checkTlsReports } from './dmarc-reports.js'
import { checkDomains, checkOwnSpf } from './domain-records.js'
import { type Finding, findingsOf } from './finding.js'
import { checkHostNames } from './host-names.js'
import { checkJobs } from './jobs.js'
import { checkOutboundPort } from './outbound-port.js'
import { checkReports } from './reports.js'
import { checkReturnPaths } from './return-path.js'
import { findSources } from './source-addresses.js'
import { checkTime } from './time.js'

/**
 * Looks at everything side by side. Never rejects for what the world does; a check that takes too
 * long, or fails in itself, is a finding.
 */
export async function examine(deps: DoctorDeps): Promise<Finding[]> {
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
    clock: () => checkTime(deps),
    jobs: () => checkJobs(deps),
    disk: () => checkDisk(deps.dataDir),
    backup: () => checkBackups(deps),
    blocklist: async () => checkBlocklists(deps, await sources),
  }
  const found = await Promise.all(
    Object.entries(checks).map(([name, run]) => bounded(deps, name, run)),
  )
  return found.flat().map((finding) => judgedForRoute(deps, finding))
}

// A check asks one thing after another: connections to some hosts, lookups before them.
const stepsPerCheck = 6

function bounded(
  { clock, config }: DoctorDeps,
  name: string,
  run: () => Promise<Finding[]>,
): Promise<Finding[]> {
  const of = findingsOf(name, 'this check')
  const ms = config.doctor.timeout * stepsPerCheck
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () =>
      resolve([of.warn(`not done after ${ms / 1_000} s`, 'try again')]),
    )
    void run()
      .catch((error: unknown) => [of.warn(`could not be made: ${messageOf(error)}`)])
      .then((findings) => {
        cancel()
        resolve(findings)
      })
  })
}

// These matter to an appliance whose mail stays inside, too.
const localChecks = ['backup', 'clock', 'disk', 'report', 'jobs']

/** In sandbox mode nothing leaves: what the world thinks is told, but is no failure yet. */
function judgedForRoute({ config }: DoctorDeps, finding: Finding): Finding {
  if (config.outbound.route !== 'sandbox' || finding.state !== 'fail') return finding
  return localChecks.includes(finding.check) ? finding : { ...finding, state: 'warn' }
}
