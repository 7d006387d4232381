import { isIP, type LookupFunction } from 'node:net'
import {
  answerLookup,
  hostAddresses,
  isPublicAddress,
  liesWithin,
  type Resolver,
} from '../dns/index.js'
import { ApiError, messageOf } from '../errors/index.js'

/** What decides where webhooks may go. */
export interface GuardDeps {
  resolver: Resolver
  /** `webhooks.allow`: hosts, addresses, and networks such as `10.0.0.0/8`. */
  allow: readonly string[]
}

// Longer than any real URL of an endpoint.
const maxUrlLength = 2_048
// The networks in which a host on the list may be. Link-local addresses are not among them (RFC 3927; clouds give out
// credentials at 169.254.169.254): only a network in the list opens those.
const ownNetworks = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '::1',
  'fc00::/7',
]

/** Reads the URL of an endpoint; throws a 422 with what is wrong with it. */
export function readTargetUrl(text: string): URL {
  // Not URL.canParse: once it is hot, Node 20.20 says false of `https://bücher.test/`.
  const url = text.length <= maxUrlLength ? URL.parse(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw badUrl(
      `This is not a URL for a webhook endpoint: expected one such as https://app.example.com/hooks, at most ${maxUrlLength} characters`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw badUrl('The URL of a webhook endpoint must not have a user, a password or a #fragment')
  }
  return url
}

/** The 422 for a URL, which names the field. */
const badUrl = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'url' } })

/**
 * Says at once what the courier would say at every attempt: throws a 422 for a URL to which nothing may go. Resolves
 * with a present obstacle, such as a name that is not in the DNS yet.
 */
export async function judgeTarget(deps: GuardDeps, text: string): Promise<string | undefined> {
  const url = readTargetUrl(text)
  try {
    await permittedAddresses(deps, url)
    return undefined
  } catch (error) {
    if (error instanceof Refused) throw badUrl(error.message)
    return messageOf(error)
  }
}

/** A place to which a webhook must not go unless the operator allows it; the message tells how. */
export class Refused extends Error {
  constructor(host: string, why: string) {
    super(
      `${why}. To allow it, the operator of this appliance sets webhooks.allow = ["${host}"] in posthorn.toml, or its network, such as "10.0.0.0/8", and restarts Posthorn`,
    )
    this.name = 'Refused'
  }
}

/**
 * The addresses that a webhook to `url` may connect to: public ones over HTTPS, and those that the operator allows.
 * Rejects with the reason when there is none.
 */
export async function permittedAddresses(
  { resolver, allow }: GuardDeps,
  url: URL,
): Promise<string[]> {
  const host = hostOf(url)
  const addresses = await addressesOf(resolver, host)
  const networks = allow.filter(isNetwork)
  const named = allow.some((item) => item.toLowerCase() === host)
  const open = named ? [...networks, ...ownNetworks] : networks
  const plain = url.protocol === 'http:' && !named
  const permitted = addresses.filter((address) =>
    plain ? liesWithin(address, networks) : isPublicAddress(address, open),
  )
  if (permitted.length > 0) return permitted
  if (plain && addresses.some((address) => isPublicAddress(address))) {
    throw new Refused(host, `http://${host} has no TLS; expected https`)
  }
  // The address is not named: the client must not learn what our resolver sees inside the network.
  throw new Refused(host, `${host} is not at a public address`)
}

/**
 * A look-up that checks what it finds, once for each connection: the connection goes to what was checked, whatever
 * the DNS answers later. Node calls it only for names: `permittedAddresses` checks an address in the URL before.
 */
export function guardedLookup(deps: GuardDeps, url: URL): LookupFunction {
  return (_host, options, callback) => {
    permittedAddresses(deps, url).then(
      (addresses) => answerLookup(addresses, options, callback),
      (error: Error) => callback(error, ''),
    )
  }
}

/** The host without the brackets of an IPv6 address. URLs have read `0x7f.1` as 127.0.0.1. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** Whether an item of `webhooks.allow` is a network and not a host. */
const isNetwork = (item: string) => isIP(item.split('/')[0] ?? '') !== 0

/** All addresses of a host. Rejects when the DNS knows none or does not answer. */
async function addressesOf(resolver: Resolver, host: string): Promise<string[]> {
  const found = await hostAddresses(resolver, host)
  // The same error as from Node's own look-up.
  if ('failed' in found) throw Object.assign(new Error(found.failed), { code: 'ENOTFOUND' })
  return found.addresses
}
