import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Config, certificatePaths, ownSourceAddresses } from '../config/index.js'
import { canonicalAddress, canonicalName, isPublicAddress, type Resolver } from '../dns/index.js'
import { trackingHosts } from '../domains/index.js'
import type { Read } from '../store/index.js'
import { isFileName } from './files.js'

type Settings = Pick<Config, 'tls' | 'http' | 'outbound' | 'inbound' | 'submission'>

/** A name that a certificate is kept for. */
export interface WantedName {
  name: string
  /** A customer's host for links, of the domain with this name. */
  domain?: string
  /** The account whose domain that is. */
  accountId?: string
  /** Whether to ask for one now; else only what there is stays: of a customer whose DNS does not lead here now. */
  isOrdered: boolean
}

/** The operator's names first, then customers', the oldest domain first, within the bounds of the settings. */
export async function wantedNames(read: Read, config: Settings): Promise<WantedName[]> {
  const wanted = new Map<string, WantedName>()
  for (const name of ownNames(config)) wanted.set(name, { name, isOrdered: true })
  // Where a proxy ends the TLS of links, their certificates are its matter.
  if (!config.http.public.tls.enabled) return [...wanted.values()]
  const { trackingHosts: most, trackingHostsPerAccount } = config.tls
  const perAccount = new Map<string, number>()
  let taken = 0
  for (const { accountId, domain, host, isReady } of await trackingHosts(read)) {
    if (wanted.has(host) || !isFileName(host)) continue
    const ofAccount = perAccount.get(accountId) ?? 0
    const fits = taken < most && ofAccount < trackingHostsPerAccount
    if (!fits) continue
    taken++
    perAccount.set(accountId, ofAccount + 1)
    wanted.set(host, { name: host, domain, accountId, isOrdered: isReady })
  }
  return [...wanted.values()]
}

/** The operator's: of the listeners that have TLS and no files, and those that the settings name. */
export function ownNames({ tls, http, outbound, inbound, submission }: Settings): string[] {
  const { public: others, private: own } = http
  const isSmtp =
    (inbound.enabled && inbound.tls.certificate === '') ||
    (submission.enabled && certificatePaths(submission, inbound.tls).certificate === '')
  const names = [
    ...(hasAcme(others.tls) ? [new URL(others.url).hostname] : []),
    ...(isSmtp ? [outbound.heloName] : []),
    ...(hasAcme(own.tls) ? own.allowedHosts : []),
    ...tls.names,
  ]
  const usable = names
    .map(canonicalName)
    .filter((name) => isIP(name) === 0 && name.includes('.') && isFileName(name))
  return [...new Set(usable)]
}

const hasAcme = ({ enabled, certificate }: { enabled: boolean; certificate: string }) =>
  enabled && certificate === ''

/**
 * The domain that somebody has registered, as far as names alone tell: two labels, or three below what looks like a
 * registry's own of a country (co.uk, com.ng). A directory's limits are kept for each such domain.
 */
export function registeredDomain(name: string): string {
  const labels = name.split('.')
  const isBelowRegistry = /^[a-z]{2,3}\.[a-z]{2}$/.test(labels.slice(-2).join('.'))
  return labels.slice(isBelowRegistry ? -3 : -2).join('.')
}

/** Why a name is not asked for: the DNS leads it elsewhere, or does not answer. Undefined: it leads here. */
export async function elsewhere(
  { resolver, config }: { resolver: Resolver; config: Settings },
  { name, domain }: WantedName,
): Promise<{ cause: string; fix: string } | undefined> {
  const answers = await Promise.all([resolver.a(name), resolver.aaaa(name)])
  const failed = answers.find((answer) => answer.kind === 'failed')
  if (failed?.kind === 'failed') {
    return { cause: `the DNS did not answer (${failed.cause})`, fix: 'it is asked again by itself' }
  }
  const found = answers.flatMap((answer) => (answer.kind === 'records' ? answer.records : []))
  if (found.length === 0) {
    return { cause: 'it has no address', fix: `publish an A record of ${name}` }
  }
  const own = ownAddresses(config)
  // Each of them: whoever validates takes one, an IPv6 address before all others.
  const stranger = found.find((address) => !own.has(canonicalAddress(address)))
  if (stranger !== undefined) {
    const behind = `if ${stranger} leads here all the same (NAT), add it to tls.addresses`
    return {
      cause: `it resolves to ${stranger}, which is not an address of this machine`,
      fix: `let all addresses of ${name} be of this machine; ${behind}`,
    }
  }
  // A customer's host is asked for by others' word: none of our own network gets a certificate by it.
  const isCustomers = domain !== undefined && !config.outbound.allowPrivateAddresses
  const inner = isCustomers ? found.find((address) => !isPublicAddress(address)) : undefined
  if (inner === undefined) return undefined
  return {
    cause: `it resolves to ${inner}, a private address`,
    fix: 'let it resolve to a public one',
  }
}

function ownAddresses({ outbound, tls }: Settings): Set<string> {
  const ofMachine = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
  const named = [...tls.addresses, ...ownSourceAddresses(outbound)]
  return new Set([...ofMachine, ...named].map(canonicalAddress))
}
