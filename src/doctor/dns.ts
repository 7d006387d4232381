import { isIP } from 'node:net'
import { type Resolver, type StaticRecords, staticResolver } from '../dns/index.js'
import { type DoctorDeps, type Finding, findingsOf, noAnswerOfDns } from './finding.js'
import { splitServer } from './time.js'

/** What is known of the DNS before anything else is asked of it. */
interface DnsVerdict {
  finding: Finding
  /** For the other checks: if the DNS is silent, a resolver that says so at once. */
  resolver: Resolver
}

/**
 * Whether the DNS answers at all: names of several zones are asked for, and one definite answer, be it 'no such
 * name', is enough. Without one, every other question would only run into its own timeout and be told as a
 * fault of a record, so those questions are left out: see `unchecked`.
 */
export async function judgeDns({
  config,
  resolver,
}: Pick<DoctorDeps, 'config' | 'resolver'>): Promise<DnsVerdict> {
  const { servers, static: records } = config.dns
  const of = findingsOf('dns', servers.join(', ') || '/etc/resolv.conf')
  const withoutDns = staticResolver(records as StaticRecords, silentDns)
  const { heloName } = config.outbound
  const { smtpProbes, timeServers } = config.doctor
  const named = [heloName, ...smtpProbes, ...timeServers.map((server) => splitServer(server).host)]
  const names = [...new Set(named)].filter((name) => name.includes('.') && isIP(name) === 0)
  const answers = await Promise.all(
    names.map(async (name) => {
      // A name that the settings answer says nothing about the DNS.
      const own = await withoutDns.mx(name)
      if (own !== silence) return 'own'
      const answer = await resolver.mx(name)
      return answer.kind === 'failed' ? { silent: `${name}: ${answer.cause}` } : 'definite'
    }),
  )
  if (answers.includes('definite')) return { finding: of.ok('it answers'), resolver }
  const silent = answers.flatMap((answer) => (typeof answer === 'object' ? [answer.silent] : []))
  if (silent.length === 0) return { finding: of.ok('not asked: dns.static has it all'), resolver }
  const finding = of.fail(
    `does not answer (${silent.slice(0, shownCauses).join('; ')})`,
    "see to this machine's name servers (dns.servers, /etc/resolv.conf; UDP and TCP port 53 outward), then run it again",
  )
  return { finding, resolver: withoutDns }
}

const shownCauses = 2

const silence = { kind: 'failed', cause: noAnswerOfDns } as const
const failed = async () => silence
const silentDns = { mx: failed, a: failed, aaaa: failed, txt: failed, cname: failed, ptr: failed }
