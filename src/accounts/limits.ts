import { isoTime } from '../clock/index.js'
import { asciiName, liesWithin, parseCidrs } from '../dns/index.js'
import { ApiError } from '../errors/index.js'
import type { ApiKeyRow, Read } from '../store/index.js'

/** `full` does all, `sending` sends, `read` changes nothing, `test` sends to the test inbox (`permission.ts`). */
export const keyScopes = ['full', 'sending', 'read', 'test'] as const
export type KeyScope = (typeof keyScopes)[number]

/** What a key may do. */
export interface KeyLimits {
  scope: KeyScope
  /** The sender domains (A-labels, lower case) that a sending key may use; null: all. */
  domains: readonly string[] | null
  /** CIDR ranges that its requests come from; null: any. */
  networks: readonly string[] | null
  /** The moment (ms) from which the key no longer works; null: never. */
  expiresAt: number | null
  /** How many mails the key may hand in within a clock hour, and within a clock minute; null: any number. */
  perHour: number | null
  perMinute: number | null
}

/** The limits of a key that may do everything, from anywhere, for ever. */
export const noLimits: KeyLimits = {
  scope: 'full',
  domains: null,
  networks: null,
  expiresAt: null,
  perHour: null,
  perMinute: null,
}

// Nobody reads a longer list; such a key need not be limited.
const maxDomains = 50
const maxNetworks = 50

/**
 * The limits as they are stored. Throws a 422 that names the field for a limit that is empty or cannot be meant: a
 * domain that the account does not have, a text that is not a network, a time that has passed.
 */
export async function checkLimits(
  read: Read,
  accountId: string,
  { scope, domains, networks, expiresAt, perHour, perMinute }: KeyLimits,
  now: number,
): Promise<KeyLimits> {
  if (domains !== null && scope !== 'sending' && scope !== 'test') {
    throw wrong('domains', 'Only a key of the scope "sending" or "test" can be limited to domains')
  }
  if (expiresAt !== null && expiresAt <= now) {
    throw wrong(
      'expiresAt',
      'The time at which the key is to expire is in the past; give a time to come',
    )
  }
  for (const [field, most] of Object.entries({ perHour, perMinute })) {
    if (most !== null && scope === 'read') {
      throw wrong(field, 'A key of the scope "read" hands in no mail that could be limited')
    }
  }
  return {
    scope,
    domains: domains && (await checkedDomains(read, accountId, domains)),
    networks: networks && checkedNetworks(networks),
    expiresAt,
    perHour,
    perMinute,
  }
}

/** The domains as A-labels, sorted, each once; the account must have them all. */
async function checkedDomains(read: Read, accountId: string, given: readonly string[]) {
  const domains = [...new Set(given.map((name) => asciiName(name.trim())))].sort()
  if (domains.length === 0 || domains.length > maxDomains) {
    throw wrong('domains', `A key can be limited to 1 to ${maxDomains} domains`)
  }
  const known = await read
    .selectFrom('domains')
    .select('name')
    .where('account_id', '=', accountId)
    .where('name', 'in', domains)
    .execute()
  const missing = domains.find((name) => !known.some((domain) => domain.name === name))
  if (missing === undefined) return domains
  throw wrong('domains', `The account has no domain "${missing.slice(0, 255)}"`)
}

/** The networks as they were written, each once; throws a 422. */
export function checkedNetworks(given: readonly string[]): string[] {
  const networks = [...new Set(given.map((text) => text.trim()))]
  if (networks.length === 0 || networks.length > maxNetworks) {
    throw wrong('networks', `A key can be limited to 1 to ${maxNetworks} networks`)
  }
  for (const text of networks) {
    try {
      parseCidrs([text])
    } catch {
      const shown = `"${text.slice(0, 60)}" is not a network`
      throw wrong('networks', `${shown}; expected an address or a range such as 10.0.0.0/8`)
    }
  }
  return networks
}

/**
 * Throws a 403 for a request from outside the key's networks. The message does not list them: a thief could read it.
 */
export function refuseElsewhere({ networks }: Pick<KeyLimits, 'networks'>, address: string): void {
  if (networks === null || (address !== '' && liesWithin(address, networks))) return
  const from = address === '' ? 'an unknown address' : address
  throw new ApiError(
    'forbidden',
    `This key is limited to certain networks, and the request comes from ${from}`,
  )
}

/** Throws a 403 for a sender (a domain as A-label) that the key may not use. */
export function refuseOtherDomain({ domains }: KeyLimits, domain: string): void {
  if (domains === null || domains.includes(domain.toLowerCase())) return
  throw new ApiError(
    'forbidden',
    `This key may only send from ${domains.join(', ')}, not from ${domain.slice(0, 255)}`,
  )
}

/** Throws a 403 where `wanted` would allow something that the key that asks may not do itself. */
export function refuseMightier(own: KeyLimits, wanted: KeyLimits): void {
  if (exceedsNetworks(own, wanted)) {
    throw mightier('networks', `${own.networks?.join(', ')} or ranges of them`)
  }
  // Otherwise a key that was given for a day could make one that lasts.
  if (exceedsExpiry(own, wanted)) throw mightier('expiry', `a time up to ${isoTime(own.expiresAt)}`)
  const rate = rates.find((one) => exceedsRate(own, wanted, one))
  if (rate !== undefined) throw mightier(rate, `a number up to ${own[rate]}`)
}

/** Throws a 403 where the key to be changed or deleted may do something that the key that asks may not. */
export function refuseChanging(own: KeyLimits, other: KeyLimits): void {
  const isNetwork = exceedsNetworks(own, other)
  const isLonger = exceedsExpiry(own, other)
  if (!isNetwork && !isLonger && !rates.some((one) => exceedsRate(own, other, one))) return
  const reach = isNetwork
    ? 'is good from more networks'
    : isLonger
      ? 'lasts longer'
      : 'may hand in more mails'
  throw new ApiError(
    'forbidden',
    `A key cannot change or delete one that ${reach} than itself; use one with as many rights, or the dashboard`,
  )
}

const exceedsNetworks = (own: KeyLimits, other: KeyLimits) =>
  own.networks !== null && !isWithin(other.networks, own.networks)

const exceedsExpiry = (own: KeyLimits, other: KeyLimits) =>
  own.expiresAt !== null && (other.expiresAt ?? Number.POSITIVE_INFINITY) > own.expiresAt

const rates = ['perHour', 'perMinute'] as const

const exceedsRate = (own: KeyLimits, other: KeyLimits, rate: (typeof rates)[number]) =>
  own[rate] !== null && (other[rate] ?? Number.POSITIVE_INFINITY) > own[rate]

/** Whether each of `inner` lies in one of `outer`. */
function isWithin(inner: readonly string[] | null, outer: readonly string[]): boolean {
  if (inner === null) return false
  return parseCidrs(inner).every(([address, bits]) =>
    parseCidrs(outer).some(
      ([network, shorter]) =>
        address.kind() === network.kind() && bits >= shorter && address.match(network, shorter),
    ),
  )
}

/** A 403 that says what would be allowed. */
const mightier = (what: string, within: string) =>
  new ApiError(
    'forbidden',
    `A key cannot give another key rights that it lacks itself: the ${what} of the other key must be ${within}`,
  )

/** A 422 that names the field. */
const wrong = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })

type LimitColumns = Pick<
  ApiKeyRow,
  'scope' | 'domains' | 'networks' | 'expires_at' | 'per_hour' | 'per_minute'
>

/** The limits from a row's columns. */
export const limitsOf = (row: LimitColumns): KeyLimits => ({
  scope: row.scope,
  domains: row.domains === null ? null : (JSON.parse(row.domains) as string[]),
  networks: row.networks === null ? null : (JSON.parse(row.networks) as string[]),
  expiresAt: row.expires_at,
  perHour: row.per_hour,
  perMinute: row.per_minute,
})

/** The columns of a row from the limits. */
export const limitColumns = ({
  scope,
  domains,
  networks,
  expiresAt,
  perHour,
  perMinute,
}: KeyLimits): LimitColumns => ({
  scope,
  domains: domains && JSON.stringify(domains),
  networks: networks && JSON.stringify(networks),
  expires_at: expiresAt,
  per_hour: perHour,
  per_minute: perMinute,
})
