import { isIP } from 'node:net'
import { isTable } from '../toml/index.js'
import type { Setting } from './settings.js'

/** Source addresses that some mail leaves from instead of the usual ones. */
export interface PoolSettings {
  readonly sources: readonly {
    /** At most one of each family. */
    readonly addresses: readonly string[]
    readonly heloName?: string
    readonly weight: number
  }[]
  readonly classes: readonly string[]
  /** Ids of accounts; they take precedence over classes. */
  readonly accounts: readonly string[]
  /**
   * What its mail does while all nodes with its addresses are gone; undefined: transactional mail `any`, other mail
   * `wait`.
   */
  readonly whenAway?: (typeof waysAway)[number]
  /** Those of its addresses that belong to other nodes; known when the appliance has started. */
  readonly elsewhere?: readonly string[]
}

/** By the pool's name. */
export type PoolsSettings = Readonly<Record<string, PoolSettings>>

const classes = ['transactional', 'automation', 'campaign']
const waysAway = ['wait', 'any'] as const
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/
// A source of weight 10 gets ten times the mail of one of weight 1.
const maxWeight = 10

/** `[outbound.pools.NAME]`; every account, class and address is in one pool at most. */
export function pools(hostName: RegExp): Setting<PoolsSettings> {
  return {
    kind: 'setting',
    fallback: {},
    read(given) {
      try {
        return { value: readPools(given, hostName) }
      } catch (error) {
        if (error instanceof Expected) return { expected: error.message }
        throw error
      }
    },
  }
}

/** Every address that mail may leave from, for SPF records and against loops. */
export function allSourceAddresses(outbound: {
  sourceAddresses: readonly string[]
  pools?: PoolsSettings
}): string[] {
  const pooled = Object.values(outbound.pools ?? {}).flatMap(({ sources }) =>
    sources.flatMap(({ addresses }) => addresses),
  )
  return [...new Set([...outbound.sourceAddresses, ...pooled])]
}

/** What was expected where something else was given; it does not leave this file. */
class Expected extends Error {}

/** Throws unless it is so. */
function expect(isSo: boolean, where: string, expected: string): asserts isSo {
  if (!isSo) throw new Expected(`${where} to be ${expected}`)
}

/** The pools; throws an `Expected` at the first thing that is wrong. */
function readPools(given: unknown, hostName: RegExp): PoolsSettings {
  const taken = new Map<string, string>()
  const once = (kind: string, item: string, pool: string) => {
    const before = taken.get(`${kind} ${item}`)
    expect(before === undefined, `${kind} ${item}`, `in one pool, not in ${before} and ${pool}`)
    taken.set(`${kind} ${item}`, pool)
  }
  const read: Record<string, PoolSettings> = {}
  for (const [name, value] of Object.entries(tableOf(given, 'it', []))) {
    expect(/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name), `the name ${JSON.stringify(name)}`, poolName)
    const pool = tableOf(value, name, ['sources', 'classes', 'accounts', 'when_away'])
    const sources = listOf(pool.sources, `${name}.sources`).map((source, i) =>
      readSource(source, `${name}.sources[${i}]`, hostName),
    )
    expect(sources.length > 0, `${name}.sources`, 'a list of at least one address')
    const whenAway = waysAway.find((one) => one === pool.when_away)
    expect(
      pool.when_away === undefined || whenAway !== undefined,
      `${name}.when_away`,
      '"wait" or "any"',
    )
    const wrongClass = `a list of ${classes.map((one) => `"${one}"`).join(', ')}`
    const read1 = {
      sources,
      classes: textsOf(pool.classes, `${name}.classes`, (c) => classes.includes(c), wrongClass),
      accounts: textsOf(
        pool.accounts,
        `${name}.accounts`,
        (id) => uuid.test(id),
        "a list of accounts' ids",
      ),
      ...(whenAway !== undefined && { whenAway }),
    }
    for (const one of read1.classes) once('the class', one, name)
    for (const one of read1.accounts) once('the account', one, name)
    for (const one of sources.flatMap(({ addresses }) => addresses)) once('the address', one, name)
    read[name] = read1
  }
  return read
}

const poolName = '1 to 32 of a-z, 0-9, _ and -'

/** One source: at most one address of each family, as mail leaves by IPv4 or by IPv6. */
function readSource(given: unknown, where: string, hostName: RegExp) {
  const source = tableOf(given, where, ['addresses', 'helo_name', 'weight'])
  const { helo_name: heloName, weight = 1 } = source
  const addresses = textsOf(
    source.addresses,
    `${where}.addresses`,
    (item) => isIP(item) !== 0,
    'a list of IP addresses',
  )
  const families = new Set(addresses.map((address) => isIP(address)))
  const one = 'an IPv4 address, an IPv6 address, or one of each'
  expect(addresses.length > 0 && families.size === addresses.length, `${where}.addresses`, one)
  expect(
    heloName === undefined || (typeof heloName === 'string' && hostName.test(heloName)),
    `${where}.helo_name`,
    'a host name',
  )
  expect(
    typeof weight === 'number' && Number.isInteger(weight) && weight >= 1 && weight <= maxWeight,
    `${where}.weight`,
    `a whole number from 1 to ${maxWeight}`,
  )
  return { addresses, weight, ...(heloName === undefined ? {} : { heloName }) }
}

/** A table with no other fields than `known`; an empty list allows all. */
function tableOf(given: unknown, where: string, known: readonly string[]) {
  expect(isTable(given), where, 'a table')
  const unknown = Object.keys(given).find((key) => known.length > 0 && !known.includes(key))
  expect(unknown === undefined, `${where}.${unknown}`, `one of ${known.join(', ')}`)
  return given
}

/** A list; an empty one where it is left out. */
function listOf(given: unknown, where: string): readonly unknown[] {
  expect(given === undefined || Array.isArray(given), where, 'a list')
  return given ?? []
}

/** A list of texts that all fit. */
function textsOf(
  given: unknown,
  where: string,
  fits: (item: string) => boolean,
  expected: string,
): string[] {
  const items = listOf(given, where)
  const texts = items.filter((item): item is string => typeof item === 'string' && fits(item))
  expect(texts.length === items.length, where, expected)
  return texts
}
