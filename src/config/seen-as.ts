import { isIP } from 'node:net'
import { isTable } from '../toml/index.js'
import { allSourceAddresses, type PoolsSettings } from './pools.js'
import { table } from './settings.js'

/**
 * Behind 1:1 NAT a machine binds to one address and the world sees another: the address that is seen, by the one that
 * is bound to.
 */
export type SeenAs = Readonly<Record<string, string>>

/** The setting `outbound.seen_as`. */
export const seenAsSetting = table<SeenAs>(
  {},
  (value) => (isSeenAs(value) ? value : undefined),
  'a table of addresses that mail leaves from, each with the one of the same family that the world sees',
)

function isSeenAs(value: unknown): value is SeenAs {
  if (!isTable(value)) return false
  return Object.entries(value).every(
    ([own, seen]) => isIP(own) !== 0 && typeof seen === 'string' && isIP(seen) === isIP(own),
  )
}

/** The address from which the world sees mail that leaves from this one: itself, except behind 1:1 NAT. */
export const seenAddress = ({ seenAs = {} }: { seenAs?: SeenAs }, address: string): string =>
  seenAs[address] ?? address

interface Sources {
  sourceAddresses: readonly string[]
  pools?: PoolsSettings
  seenAs?: SeenAs
}

/** Every address from which the world sees mail come, for SPF records and names in the DNS. */
export const seenSourceAddresses = (outbound: Sources): string[] => [
  ...new Set(allSourceAddresses(outbound).map((address) => seenAddress(outbound, address))),
]

/** Those, and the addresses that mail is bound to: whatever leads to one of them leads here. */
export const ownSourceAddresses = (outbound: Sources): string[] => [
  ...new Set([...allSourceAddresses(outbound), ...seenSourceAddresses(outbound)]),
]
