import { isIP } from 'node:net'
import type { Config, PoolSettings } from '../../config/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'

/** What mail leaves from: a name for EHLO, and an address of each family that it has. */
export interface EgressSource {
  /**
   * The name by which limits and warm-up count: its IPv4 address, else its IPv6 address, else the name for no
   * address.
   */
  readonly name: string
  /** Empty: whichever address the system takes. */
  readonly addresses: readonly string[]
  /** PTR and forward records have to agree with it. */
  readonly heloName: string
}

/** Sources from which mail leaves in turn. */
export interface EgressPool {
  readonly name: string
  /** Every source as often as its weight says; empty where all of its addresses belong to other nodes. */
  readonly turns: readonly EgressSource[]
  /** The addresses of other nodes, and what happens to the mail while all these nodes are gone. */
  readonly elsewhere?: { addresses: readonly string[]; whenAway: PoolSettings['whenAway'] }
}

/** Which pool an account's mail of a class leaves from: the account's, else the class's, else `default`. */
export interface EgressPools {
  (accountId: string, of: QueueClass): EgressPool
  /** Undefined: the settings have no pool of that name (any more). */
  named(name: string): EgressPool | undefined
  /** The pool of the addresses that are in no named pool. */
  readonly usual: EgressPool
  readonly all: readonly EgressPool[]
}

/**
 * Reads the pools of the settings. A source's weight is how many turns it has in a round. `unnamed`: the name of the source
 * that has no address (`usualSourceOf`).
 */
export function makeEgressPools(
  config: Pick<Config['outbound'], 'heloName' | 'sourceAddresses' | 'pools'>,
  unnamed = 'default',
): EgressPools {
  const usual = onePerFamily(config.sourceAddresses)
  const byDefault: EgressPool = {
    name: 'default',
    turns: [sourceOf(usual, config.heloName, unnamed)],
  }
  const byAccount = new Map<string, EgressPool>()
  const byClass = new Map<string, EgressPool>()
  const byName = new Map([[byDefault.name, byDefault]])
  for (const [name, one] of Object.entries(config.pools)) {
    const { sources, accounts, classes, elsewhere = [], whenAway } = one
    const turns = sources.flatMap(({ addresses, heloName = config.heloName, weight }) => {
      const source = sourceOf(addresses, heloName, unnamed)
      return Array.from({ length: weight }, () => source)
    })
    const isAway = turns.length === 0
    const pool = { name, turns, ...(isAway && { elsewhere: { addresses: elsewhere, whenAway } }) }
    byName.set(name, pool)
    for (const account of accounts) byAccount.set(account, pool)
    for (const of of classes) byClass.set(of, pool)
  }
  const names = Object.keys(queueClass)
  const poolOf = (accountId: string, of: QueueClass) =>
    byAccount.get(accountId) ?? byClass.get(names[of] ?? '') ?? byDefault
  return Object.assign(poolOf, {
    named: (name: string) => byName.get(name),
    usual: byDefault,
    all: [...byName.values()],
  })
}

/** The name of a source's pool; for a source in no pool, such as a smart host, its own name. */
export function makePoolNames(
  config: Pick<Config['outbound'], 'heloName' | 'sourceAddresses' | 'pools'>,
  unnamed?: string,
): (source: string) => string {
  const { all } = makeEgressPools(config, unnamed)
  // A named pool comes after the usual one, because both may have the same address.
  const names = new Map(all.flatMap(({ name, turns }) => turns.map((one) => [one.name, name])))
  return (source) => names.get(source) ?? source
}

/** The names of all sources that mail may leave from, by which limits and warm-up count. */
export function sourceNames(
  { sourceAddresses, pools }: Pick<Config['outbound'], 'sourceAddresses' | 'pools'>,
  unnamed: string,
): string[] {
  const pooled = Object.values(pools).flatMap(({ sources }) => sources.map((one) => one.addresses))
  const all = [onePerFamily(sourceAddresses), ...pooled]
  return [...new Set(all.map((addresses) => sourceOf(addresses, '', unnamed).name))]
}

/** The source's address of the same family as the one to go to; undefined: it has none. */
export function bindTo(
  { addresses }: Pick<EgressSource, 'addresses'>,
  address: string,
): { localAddress?: string } | undefined {
  if (addresses.length === 0) return {}
  const localAddress = addresses.find((own) => isIP(own) === isIP(address))
  return localAddress === undefined ? undefined : { localAddress }
}

/** A source by its addresses; IPv4 comes first in its name. */
function sourceOf(addresses: readonly string[], heloName: string, unnamed: string): EgressSource {
  const [name = unnamed] = [...addresses].sort((a, b) => isIP(a) - isIP(b))
  return { name, addresses, heloName }
}

/** The first address of each family: one source has no more. */
const onePerFamily = (addresses: readonly string[]) =>
  addresses.filter((one, i) => addresses.findIndex((other) => isIP(other) === isIP(one)) === i)
