import { isIP } from 'node:net'
import type { Config } from '../../config/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'

/** What mail leaves from: a name for EHLO, and an address of each family that it has. */
export interface EgressSource {
  /** The name by which limits and warm-up count: its IPv4 address, else its IPv6 one, else `default`. */
  readonly name: string
  /** Empty: whichever the system takes. */
  readonly addresses: readonly string[]
  /** PTR and forward records have to agree with it. */
  readonly heloName: string
}

/** Sources from which mail leaves in turn. */
export interface EgressPool {
  readonly name: string
  /** Every source as often as its weight says; never empty. */
  readonly turns: readonly EgressSource[]
}

/** Which pool an account's mail of a class leaves from: the account's, else the class's, else `default`. */
export interface EgressPools {
  (accountId: string, of: QueueClass): EgressPool
  /** Undefined: the settings have none of that name (any more). */
  named(name: string): EgressPool | undefined
}

/** Reads the pools of the settings. A source's weight is how many turns it has in a round. */
export function makeEgressPools(
  config: Pick<Config['outbound'], 'heloName' | 'sourceAddresses' | 'pools'>,
): EgressPools {
  const usual = onePerFamily(config.sourceAddresses)
  const byDefault: EgressPool = { name: 'default', turns: [sourceOf(usual, config.heloName)] }
  const byAccount = new Map<string, EgressPool>()
  const byClass = new Map<string, EgressPool>()
  const byName = new Map([[byDefault.name, byDefault]])
  for (const [name, { sources, accounts, classes }] of Object.entries(config.pools)) {
    const turns = sources.flatMap(({ addresses, heloName = config.heloName, weight }) => {
      const source = sourceOf(addresses, heloName)
      return Array.from({ length: weight }, () => source)
    })
    const pool = { name, turns }
    byName.set(name, pool)
    for (const account of accounts) byAccount.set(account, pool)
    for (const of of classes) byClass.set(of, pool)
  }
  const names = Object.keys(queueClass)
  const poolOf = (accountId: string, of: QueueClass) =>
    byAccount.get(accountId) ?? byClass.get(names[of] ?? '') ?? byDefault
  return Object.assign(poolOf, { named: (name: string) => byName.get(name) })
}

/** The names of all sources that mail may leave from, by which limits and warm-up count. */
export function sourceNames({
  sourceAddresses,
  pools,
}: Pick<Config['outbound'], 'sourceAddresses' | 'pools'>): string[] {
  const pooled = Object.values(pools).flatMap(({ sources }) => sources.map((one) => one.addresses))
  const all = [onePerFamily(sourceAddresses), ...pooled]
  return [...new Set(all.map((addresses) => sourceOf(addresses, '').name))]
}

/** The address to leave from for one to go to; undefined: there is none of that family. */
export function bindTo(
  { addresses }: Pick<EgressSource, 'addresses'>,
  address: string,
): { localAddress?: string } | undefined {
  if (addresses.length === 0) return {}
  const localAddress = addresses.find((own) => isIP(own) === isIP(address))
  return localAddress === undefined ? undefined : { localAddress }
}

/** A source by its addresses; IPv4 comes first in its name. */
function sourceOf(addresses: readonly string[], heloName: string): EgressSource {
  const [name = 'default'] = [...addresses].sort((a, b) => isIP(a) - isIP(b))
  return { name, addresses, heloName }
}

/** The first address of each family: one source has no more. */
const onePerFamily = (addresses: readonly string[]) =>
  addresses.filter((one, i) => addresses.findIndex((other) => isIP(other) === isIP(one)) === i)
