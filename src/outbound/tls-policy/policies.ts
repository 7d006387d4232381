import { asciiName, type MxHost, type Resolver } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import { type HostDane, lookUpDane } from './dane.js'
import { type TlsDemand, usualDemand } from './demand.js'
import { makeOverrides, type TlsOverride } from './overrides.js'
import {
  notCovered,
  nothingPublished,
  type Published,
  publishedBy,
  type TlsFailure,
} from './published.js'
import { makeStsPolicies, type StsDeps, type StsFound } from './sts.js'
import type { StsPolicy } from './sts-cache.js'
import { coversHost } from './sts-text.js'

/** Which hosts may get a delivery, and what each must prove; or why none may get it now. */
export type TlsPolicy =
  | {
      hosts: readonly MxHost[]
      demandOf(exchange: string): TlsDemand | undefined
      /** What the domain itself publishes for that host, whatever is demanded of it. */
      publishedFor(exchange: string): Published
    }
  | { deferred: string; failed: { published: Published; failure: TlsFailure; exchange: string } }

/** Finds what a domain's mail needs of a session. */
export interface TlsPolicies {
  /**
   * What applies to mail for `domain` (the recipient's) at these hosts. `requiredBy` names a shaping rule that also
   * insists on encryption; it binds wherever TLS would only be opportunistic.
   */
  policyFor(domain: string, hosts: readonly MxHost[], requiredBy?: string): Promise<TlsPolicy>
}

/** What finding policies needs. */
export interface TlsPoliciesOptions extends StsDeps {
  resolver: Resolver
  log: Log
  settings: {
    mtaSts: boolean
    dane: boolean
    domains: Readonly<Record<string, TlsOverride>>
  }
  /** SMTP's port, which is part of the names of TLSA records. */
  port: number
}

/** The first of these that says something decides: operator, DANE (by host), MTA-STS, nobody. */
export function makeTlsPolicies(options: TlsPoliciesOptions): TlsPolicies {
  const { settings, resolver, port } = options
  const override = makeOverrides(settings.domains)
  const stsOf = settings.mtaSts ? makeStsPolicies(options) : async (): Promise<StsFound> => ({})
  const validated = settings.dane ? resolver.validated : undefined

  return {
    async policyFor(domain, hosts, requiredBy) {
      const name = asciiName(domain)
      const usual: TlsDemand =
        requiredBy === undefined ? usualDemand : { mode: 'require', by: requiredBy }
      const word = override(name)
      // Then nobody asks what the domain publishes.
      if (word !== undefined) {
        return { hosts, demandOf: () => word, publishedFor: () => nothingPublished }
      }
      const dane = validated && (await lookUpDane(validated, name, hosts, port))
      if (dane?.kind === 'failed') {
        return {
          deferred: `TLS policy of ${domain} (DANE) is not known: ${dane.cause}`,
          failed: daneFailed(hosts[0]?.exchange ?? '', dane.cause),
        }
      }
      const byHost = dane?.kind === 'hosts' ? dane.byHost : nothingByHost
      const found = await stsOf(name)
      const sts = found.policy
      const publishedFor = (exchange: string) => publishedBy(exchange, byHost.get(exchange), found)
      // For most domains nobody says anything.
      if (byHost === nothingByHost && sts === undefined) {
        return { hosts, demandOf: () => usual, publishedFor }
      }
      const demands = new Map<string, TlsDemand>()
      const refused: string[] = []
      for (const { exchange } of hosts) {
        const demand = demandOn(exchange, byHost.get(exchange), sts, usual)
        if (typeof demand === 'string') refused.push(demand)
        else demands.set(exchange, demand)
      }
      if (demands.size === 0) {
        const exchange = hosts[0]?.exchange ?? ''
        const first = byHost.get(exchange)
        return {
          deferred: `TLS policy of ${domain} lets no mail server be used: ${inShort(refused)}`,
          failed:
            first !== undefined && 'failed' in first
              ? daneFailed(exchange, first.failed)
              : { published: publishedFor(exchange), failure: notCovered, exchange },
        }
      }
      return {
        hosts: refused.length === 0 ? hosts : hosts.filter((host) => demands.has(host.exchange)),
        demandOf: (exchange) => demands.get(exchange),
        publishedFor,
      }
    },
  }
}

// RFC 8460 §4.3.2.1: a resolver that checks DNSSEC gave no good answer.
const daneFailed = (exchange: string, reason: string) => ({
  published: { ...nothingPublished, type: 'tlsa' as const, mx: [exchange] },
  failure: { type: 'dnssec-invalid' as const, reason },
  exchange,
})

// DANE is silent about every host.
const nothingByHost: ReadonlyMap<string, HostDane> = new Map()

/** What one host must prove; a text says why it may not be used at all. */
function demandOn(
  exchange: string,
  dane: HostDane,
  sts: StsPolicy | undefined,
  usual: TlsDemand,
): TlsDemand | string {
  if (dane !== undefined && 'failed' in dane) return `DANE: ${dane.failed}`
  // RFC 8461 §2: MTA-STS never loosens what DANE found. Where the TLSA records are unusable, it may tighten it.
  if (dane?.verify !== undefined) return dane
  if (sts?.mode === 'enforce') {
    const by = 'MTA-STS enforce'
    if (coversHost(sts.mx, exchange)) return { mode: 'require', verify: 'name', by }
    return `${exchange} is not in the policy (${by}, id ${sts.id}, mx ${inShort(sts.mx)})`
  }
  if (dane !== undefined) return dane
  return sts?.mode === 'testing' ? rehearse(exchange, sts, usual) : usual
}

/** RFC 8461 §5: `testing` changes only what is reported. */
function rehearse(exchange: string, sts: StsPolicy, usual: TlsDemand): TlsDemand {
  const covered = coversHost(sts.mx, exchange)
  return {
    ...usual,
    by: usual.by === '' ? 'MTA-STS testing' : `${usual.by}, MTA-STS testing`,
    rehearsal: {
      fails(tls) {
        if (!covered) return `${exchange} is not in the policy`
        if (tls === undefined) return 'no TLS'
        return tls.authorized ? undefined : (tls.authorizationError ?? 'certificate')
      },
    },
  }
}

// How many items of a list a message names.
const shown = 5

/** The first of a list, and how many more there are. */
function inShort(items: readonly string[]): string {
  const more = items.length > shown ? `, and ${items.length - shown} more` : ''
  return items.slice(0, shown).join(', ') + more
}
