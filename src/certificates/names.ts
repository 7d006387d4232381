import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Config, certificatePaths, ownSourceAddresses } from '../config/index.js'
import { canonicalAddress, canonicalName, isPublicAddress, type Resolver } from '../dns/index.js'
import { trackingHosts } from '../domains/index.js'
import { recordsBeside } from '../nodes/index.js'
import type { Read } from '../store/index.js'
import { isFileName } from './files.js'

type Settings = Pick<Config, 'tls' | 'http' | 'outbound' | 'inbound' | 'submission' | 'node'>

/** A name that needs a certificate. */
export interface WantedName {
  name: string
  /** For a customer's link host: the name of its domain. */
  domain?: string
  /** The account that has the domain. */
  accountId?: string
  /**
   * Whether to order one now. Otherwise the present one only stays: for a customer whose DNS does not lead here now.
   */
  isOrdered: boolean
}

/**
 * The operator's names first, those of all nodes, then customers', the oldest domain first, within the bounds of the
 * settings.
 */
export async function wantedNames(read: Read, config: Settings): Promise<WantedName[]> {
  const wanted = new Map<string, WantedName>()
  const ofOthers = (await recordsBeside(read, config)).flatMap(({ names }) => names)
  for (const name of [...ownNames(config), ...ofOthers]) wanted.set(name, { name, isOrdered: true })
  // Where a proxy ends the TLS of links, it also has their certificates.
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

/** The operator's names: of the listeners with TLS and without files, and those in the settings. */
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
 * The registered domain, as far as a name alone tells: two labels, or three below what looks like a country's own
 * registry (co.uk, com.ng). A directory counts its limits for each such domain.
 */
export function registeredDomain(name: string): string {
  const labels = name.split('.')
  const isBelowRegistry = /^[a-z]{2,3}\.[a-z]{2}$/.test(labels.slice(-2).join('.'))
  return labels.slice(isBelowRegistry ? -3 : -2).join('.')
}

/** Whatever leads to one of these addresses leads to a node. */
export async function addressesOfAll(read: Read, config: Settings): Promise<Set<string>> {
  const ofOthers = (await recordsBeside(read, config)).flatMap(({ addresses }) => addresses)
  return new Set([...addressesHere(config), ...ofOthers].map(canonicalAddress))
}

/**
 * Why a name is not ordered: the DNS leads it elsewhere, or does not answer. Undefined: it leads here. `own`:
 * `addressesOfAll`.
 */
export async function elsewhere(
  { resolver, config, own }: { resolver: Resolver; config: Settings; own: ReadonlySet<string> },
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
  // Every address must be ours: the validating server takes one, and prefers an IPv6 address. Any node answers it.
  const stranger = found.find((address) => !own.has(canonicalAddress(address)))
  if (stranger !== undefined) {
    const behind = `if ${stranger} leads here all the same (NAT), add it to tls.addresses`
    const ours = config.node.join ? 'the nodes' : 'this machine'
    return {
      cause: `it resolves to ${stranger}, which is not an address of ${ours}`,
      fix: `let all addresses of ${name} be of ${ours}; ${behind}`,
    }
  }
  // Others name a customer's host: no name within our own network may get a certificate that way.
  const isCustomers = domain !== undefined && !config.outbound.allowPrivateAddresses
  const inner = isCustomers ? found.find((address) => !isPublicAddress(address)) : undefined
  if (inner === undefined) return undefined
  return {
    cause: `it resolves to ${inner}, a private address`,
    fix: 'let it resolve to a public one',
  }
}

/** Whatever leads to one of these addresses leads to this machine. */
export function addressesHere({ outbound, tls }: Pick<Settings, 'outbound' | 'tls'>): string[] {
  const ofMachine = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
  return [...new Set([...ofMachine, ...tls.addresses, ...ownSourceAddresses(outbound)])]
}
