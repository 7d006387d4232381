import type { MxHost } from '../../dns/index.js'
import { lastOf, type ShapingData } from './data.js'

/** Which limits a destination falls under; `key` is the same for all destinations that share them. */
export interface SiteName {
  readonly key: string
  /** The table of shaping.toml, when its best MXs belong to a provider. */
  readonly provider: string | undefined
  /** The operator's `[mx."…"]` table. */
  readonly mx: string | undefined
  /** The operator's `[domains."…"]` table. */
  readonly domain: string | undefined
}

/**
 * The site of a domain whose mail goes to `hosts` (all of its MXs, lower case): the provider, when all of the most
 * preferred MXs belong to it, else the names of these MXs, folded. Less preferred MXs get mail only while the others
 * are down (RFC 5321 §5.1) and do not count: a domain that adds one, or has one whose name resolves only at times,
 * stays at the same site.
 */
export function siteOf(
  data: ShapingData,
  hosts: readonly Pick<MxHost, 'exchange' | 'preference'>[],
  recipientDomain: string,
): SiteName {
  const best = Math.min(...hosts.map((host) => host.preference))
  const names = hosts.filter((host) => host.preference === best).map((host) => host.exchange)
  const provider = common(names, (name) => {
    const suffix = longestSuffix(data.providerOf, name)
    return suffix === undefined ? undefined : data.providerOf.get(suffix)
  })
  const mx = common(names, (name) => longestSuffix(data.mx, name))
  const domain = data.domains.has(recipientDomain) ? recipientDomain : undefined
  const place = mx === undefined ? placeOf(data, provider, names) : `mx ${mx}`
  const key = domain === undefined ? place : `${place} for ${domain}`
  return { key, provider, mx, domain }
}

/** The site without a table of the operator's: the provider, or the hosts' names. */
function placeOf(data: ShapingData, provider: string | undefined, names: readonly string[]) {
  if (provider === undefined) return folded(names)
  const perHost = lastOf(data.providers.get(provider), 'perHost') === true
  return perHost ? `${provider} ${folded(names)}` : provider
}

/** The value that all names have in common; undefined when one has another value or none. */
function common(names: readonly string[], of: (name: string) => string | undefined) {
  const [first = '', ...others] = names
  const found = of(first)
  return others.every((name) => of(name) === found) ? found : undefined
}

/** Whole labels from the right: evilgoogle.com does not lie below google.com. */
function longestSuffix(suffixes: ReadonlyMap<string, unknown>, name: string): string | undefined {
  for (let suffix = name; suffix !== ''; suffix = suffix.slice(suffix.indexOf('.') + 1)) {
    if (suffixes.has(suffix)) return suffix
    if (!suffix.includes('.')) return undefined
  }
  return undefined
}

// The longest key, in characters: a domain may have any number of MXs.
const maxKey = 500

/** One name for hosts that differ only by number: mx1 and mx2.example.net are mx#.example.net. */
function folded(names: readonly string[]): string {
  const hosts = new Set(names.map(foldedHost))
  const key = [...hosts].sort().join(',').slice(0, maxKey)
  // A host name without a dot must not be taken for a provider's name.
  return key.includes('.') ? key : `${key}.`
}

/** A host's name with # in place of the numbers of its own labels. */
function foldedHost(name: string): string {
  const labels = name.split('.')
  const own = Math.max(0, labels.length - registeredLabels(labels))
  return labels.map((label, i) => (i < own ? label.replace(/\d+/g, '#') : label)).join('.')
}

/**
 * How many labels belong to the registered name, whose digits tell owners apart: two, and three
 * below the likes of co.uk and com.ng. Where the guess is one label too many, hosts of one owner
 * count as several sites: each of them is shaped by itself.
 */
function registeredLabels(labels: readonly string[]): number {
  const [second = '', top = ''] = labels.slice(-2)
  return top.length === 2 && second.length <= 3 ? 3 : 2
}
