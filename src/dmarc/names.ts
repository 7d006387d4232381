import { type Clock, dayMs, pause } from '../clock/index.js'
import { type Config, seenSourceAddresses } from '../config/index.js'
import { hostAddresses, type Resolver } from '../dns/index.js'
import type { Store } from '../store/index.js'
import type { NameSources } from './sources.js'

// A host's name of last month is still good enough.
const keptDays = 30
// A page shows so many sources; the others get their names at its next look.
const lookUpsAtOnce = 50
// Somebody waits for the page.
const patienceMs = 2_000

/**
 * Looks up the names of addresses when they are shown, and keeps them. An address whose name does not come within two
 * seconds has no name for now, and is asked for again the next time.
 */
export function makeNameSources(deps: {
  store: Pick<Store, 'read' | 'write'>
  clock: Clock
  resolver: Resolver
}): NameSources {
  const { store, clock, resolver } = deps
  return async (addresses) => {
    const today = Math.floor(clock.now() / dayMs)
    if (addresses.length === 0) return new Map()
    const kept = await store.read
      .selectFrom('dmarc_hosts')
      .select(['address', 'name'])
      .where('address', 'in', [...addresses])
      .where('day', '>', today - keptDays)
      .execute()
    const names = new Map(kept.map(({ address, name }) => [address, name]))
    const missing = addresses.filter((address) => !names.has(address)).slice(0, lookUpsAtOnce)
    if (missing.length === 0) return names
    const late = new AbortController()
    const asked = missing.map(async (address) => {
      const answer = await resolver.ptr(address)
      // A failure is not kept, or the address would be without a name for a month.
      if (answer.kind === 'failed' || late.signal.aborted) return
      const [name = ''] = answer.kind === 'records' ? answer.records : []
      names.set(address, /^[\w.-]{1,253}$/.test(name) ? name.replace(/\.$/, '') : '')
    })
    const done = new AbortController()
    await Promise.race([Promise.all(asked), pause(clock, patienceMs, done.signal)])
    done.abort()
    late.abort()
    const found = missing.filter((address) => names.has(address))
    if (found.length === 0) return names
    await store.write(async (tx) => {
      for (const address of found) {
        const values = { name: names.get(address) ?? '', day: today }
        await tx
          .insertInto('dmarc_hosts')
          .values({ address, ...values })
          .onConflict((conflict) => conflict.column('address').doUpdateSet(values))
          .execute()
      }
    })
    return names
  }
}

/** The addresses from which our mail leaves; none where the settings name none and the DNS is silent. */
export async function ownAddresses(
  outbound: Config['outbound'],
  resolver: Resolver,
): Promise<readonly string[]> {
  const sources = seenSourceAddresses(outbound)
  if (sources.length > 0) return sources
  // Without settings the machine sends from whatever its EHLO name leads to.
  const found = await hostAddresses(resolver, outbound.heloName)
  return 'failed' in found ? [] : found.addresses
}
