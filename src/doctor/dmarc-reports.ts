import { counted, shownCount } from '../amounts/index.js'
import { ownAddresses, readDmarc } from '../dmarc/index.js'
import type { Domain } from '../domains/index.js'
import { findReportSender } from '../tls-reports/index.js'
import { allDomains } from './domain-records.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

// A week: older faults that were mended no longer count.
const days = 7
// Some of a domain's mail always fails: a receiver's DNS is out, a list changes a body.
const leastFailed = 5
const leastShare = 0.02

/**
 * What receivers report of each verified domain: mail of our own addresses that fails, and strangers who
 * send in its name while it has no policy. Unsigned reports are left out, as anybody can write them.
 */
export async function checkDmarcReports(deps: DoctorDeps): Promise<Finding[]> {
  const verified = (await allDomains(deps.read)).filter(({ status }) => status === 'verified')
  if (verified.length === 0) return []
  const own = await ownAddresses(deps.config.outbound, deps.resolver)
  const found = await Promise.all(verified.map((domain) => judgeReports(deps, domain, own)))
  return found.flat()
}

/**
 * Only signed reports count here: an unsigned one may be invented, and would make an operator
 * change a policy.
 */
async function judgeReports(
  { read, clock }: DoctorDeps,
  { id, name }: Domain,
  own: readonly string[],
): Promise<Finding[]> {
  const of = findingsOf('dmarc-reports', name)
  const domain = { id, name }
  const nameSources = async () => new Map<string, string>()
  const asked = { domain, days, ownAddresses: own, nameSources, provenOnly: true }
  const { sources, policy, messages, passed } = await readDmarc({ read, clock }, asked)
  if (messages === 0) return []
  const findings: Finding[] = []
  for (const source of sources.filter(({ kind }) => kind === 'ours')) {
    const failed = source.messages - source.passed
    if (failed < leastFailed || failed < source.messages * leastShare) continue
    findings.push(
      of.warn(
        `${failed} of ${source.messages} messages of our own from ${source.address} failed DMARC in ${counted(days, 'day')}`,
        `'posthorn domain verify ${name}' shows which record is wrong; see 'posthorn dmarc ${name}'`,
      ),
    )
  }
  const strangers = sources.filter(({ kind, passed }) => kind === 'other' && passed === 0)
  const sent = strangers.reduce((sum, source) => sum + source.messages, 0)
  if (policy === 'none' && sent >= leastFailed) {
    findings.push(
      of.warn(
        `p=none, and strangers sent ${counted(sent, 'message')} in its name in ${counted(days, 'day')}`,
        `see 'posthorn dmarc ${name}': if none is yours, publish p=quarantine in _dmarc.${name}, then p=reject`,
      ),
    )
  }
  if (findings.length > 0) return findings
  return [
    of.ok(
      `${shownCount(passed)} of ${counted(messages, 'message')} passed by signed reports of ${counted(days, 'day')}`,
    ),
  ]
}

/** Whether anybody can send the reports about TLS that the settings ask for. */
export async function checkTlsReports({ config, read }: DoctorDeps): Promise<Finding[]> {
  const { tlsReports, outbound } = config
  if (!tlsReports.enabled) return []
  const of = findingsOf('tls-reports', tlsReports.from || 'any domain')
  const sender = await findReportSender(read, tlsReports, outbound.heloName)
  if (sender !== undefined) return [of.ok(`sent by ${sender.from}`)]
  return [
    of.warn(
      'no verified domain can send reports about TLS',
      tlsReports.from === ''
        ? 'verify a domain, or set tls_reports.enabled = false'
        : 'set tls_reports.from to an address on a verified domain, or "" for the oldest of them',
    ),
  ]
}
