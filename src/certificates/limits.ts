import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { CertificateRow, Store } from '../store/index.js'
import { setAccount } from './account.js'
import { registeredDomain, type WantedName } from './names.js'
import type { Limit } from './outcome.js'
import { directoryRestMs } from './schedule.js'
import { blankRow, setRow } from './state.js'

interface Deps {
  store: Store
  clock: Clock
  config: Pick<Config, 'tls'>
  random: () => number
  wanted: readonly WantedName[]
  rows: ReadonlyMap<string, CertificateRow>
}

/**
 * What a run has seen of the directory's limits (`rateLimited`); the answer does not say which limit it is. It is first
 * taken for that of the registered domain, whose names rest. It is taken for our account's when the next order, of
 * another domain and another owner, meets it too: no customer alone can cause that.
 */
export function seenLimits(deps: Deps) {
  const { store, clock, config, random, wanted, rows } = deps
  const resting = new Set<string>()
  let last: WantedName | undefined
  return {
    isResting: ({ name }: WantedName) => resting.has(registeredDomain(name)),
    /** The directory has taken an order. */
    pass: () => {
      last = undefined
    },
    /** Whether all names rest from now on. */
    async meet(wish: WantedName, { askedMs }: Limit): Promise<boolean> {
      const domain = registeredDomain(wish.name)
      const until = clock.now() + directoryRestMs(1, askedMs, random)
      resting.add(domain)
      for (const { name } of wanted) {
        if (name === wish.name || registeredDomain(name) !== domain) continue
        const { next_at } = rows.get(name) ?? blankRow
        if (next_at < until) await setRow(store, name, { next_at: until })
      }
      const isOfAll = last !== undefined && isOther(last, wish)
      last = wish
      if (isOfAll) await setAccount(store, config.tls.directory, { next_at: until })
      return isOfAll
    },
  }
}

/** Two of the operator's own names are told apart only by their domains. */
const isOther = (one: WantedName, two: WantedName) =>
  registeredDomain(one.name) !== registeredDomain(two.name) &&
  (one.accountId === undefined || one.accountId !== two.accountId)
