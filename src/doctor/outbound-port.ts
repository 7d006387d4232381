import { isIP } from 'node:net'
import { allSourceAddresses } from '../config/index.js'
import { routeToMx } from '../dns/index.js'
import { type ConnectFailure, connectSmtp } from '../smtp/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

type Deps = Pick<DoctorDeps, 'config' | 'resolver' | 'random'>

/** Whether port 25 of well-known servers can be reached from each address that mail leaves from. */
export async function checkOutboundPort(deps: Deps): Promise<Finding[]> {
  const { port } = deps.config.outbound
  const sourceAddresses = allSourceAddresses(deps.config.outbound)
  const { smtpProbes } = deps.config.doctor
  const sources = sourceAddresses.length > 0 ? sourceAddresses : [undefined]
  return Promise.all(
    sources.map(async (source): Promise<Finding> => {
      const of = findingsOf('outbound-port', source ?? 'any address')
      const tries = await Promise.all(smtpProbes.map((domain) => knock(deps, domain, source)))
      const good = tries.find((attempt) => attempt.kind === 'answered')
      if (good !== undefined) return of.ok(`${good.who} answers on port ${port}`)
      const refused = tries.find((attempt) => attempt.kind === 'refused')
      if (refused !== undefined) {
        return of.warn(
          `${refused.who}: ${refused.why}`,
          'read what it says; it may name a blocklist',
        )
      }
      if (tries.length === 0) return of.warn('not asked', 'name domains in doctor.smtp_probes')
      const why = tries.map((attempt) => `${attempt.who}: ${attempt.why}`).join('; ')
      if (tries.every(({ kind }) => kind === 'unknown')) {
        return { ...of.unchecked(why, fixDns), lacksDns: true }
      }
      return of.fail(why, fixFor(tries, port, source))
    }),
  )
}

const fixDns =
  "see to this machine's DNS (dns.servers, /etc/resolv.conf): it finds no well-known domain"

/** The cause decides who has to act: the resolver, the settings or the provider of the machine. */
function fixFor(tries: readonly Knock[], port: number, source: string | undefined): string {
  if (tries.every(({ kind }) => kind === 'not found' || kind === 'unknown')) return fixDns
  if (tries.some(({ code }) => code === 'EADDRNOTAVAIL')) {
    return `give this machine the address ${source}, or take it out of outbound.source_addresses or its pool`
  }
  return `ask the provider of this machine to open outbound TCP port ${port}, or set up a smart host (outbound.failover)`
}

interface Knock {
  /** `unknown`: the DNS gave no answer. */
  kind: 'answered' | 'refused' | 'silent' | 'not found' | 'unknown'
  who: string
  why: string
  code?: string
}

/** Stops after EHLO: a probe that began a mail would look like a spammer's. */
async function knock(deps: Deps, domain: string, source?: string): Promise<Knock> {
  const { heloName, port, ipFamily, allowPrivateAddresses } = deps.config.outbound
  const route = await routeToMx(deps.resolver, domain, {
    random: deps.random,
    allowPrivate: allowPrivateAddresses,
    ipFamily: familyOf(source) ?? ipFamily,
    maxAddresses: 2,
  })
  if (route.kind !== 'hosts') {
    if (route.kind === 'failed') return { kind: 'unknown', who: domain, why: route.cause }
    return { kind: 'not found', who: domain, why: `no servers (${route.kind})` }
  }
  const stepMs = deps.config.doctor.timeout
  const deadlines = { connectMs: stepMs, bannerMs: stepMs, ehloMs: stepMs, quitMs: 500 }
  let last: Knock = { kind: 'silent', who: domain, why: 'no address' }
  const knocked = new Set<string>()
  for (const { exchange, addresses } of route.hosts) {
    for (const host of addresses) {
      // Two names may have one address.
      if (knocked.has(host)) continue
      knocked.add(host)
      const who = `${exchange} [${host}]`
      const result = await connectSmtp({
        host,
        port,
        heloName,
        tls: { mode: 'off' },
        deadlines,
        ...(source === undefined ? {} : { localAddress: source }),
      })
      if (result.kind === 'ready') {
        result.connection.quit()
        return { kind: 'answered', who, why: '' }
      }
      last = asKnock(result, who)
      if (last.kind === 'refused') return last
    }
  }
  return last
}

/** A greeting that refuses shows that the port is open. */
function asKnock({ reply, cause, code }: ConnectFailure, who: string): Knock {
  if (reply !== undefined) return { kind: 'refused', who, why: cause }
  return { kind: 'silent', who, why: cause, ...(code === undefined ? {} : { code }) }
}

/** A source address reaches only servers of its own family. */
function familyOf(address: string | undefined): 'ipv4' | 'ipv6' | undefined {
  if (address === undefined) return undefined
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
