import { type Clock, isRecent } from '../clock/index.js'
import { type Resolver, staticResolver } from '../dns/index.js'
import { publishedRecords } from '../domains/index.js'
import type { Store } from '../store/index.js'

// New domains count this soon after they were added; a burst of checks shares one table.
const maxAgeMs = 2_000

/**
 * A DNS in which every domain's records are published as `posthorn domain` shows them. All mail reaches the sandbox
 * from loopback, so loopback is among the appliance's addresses: SPF then gives the result that a mail from the real
 * addresses would get. Unknown names are `nxdomain`: nothing leaves the machine.
 */
export function publishedResolver(
  { store, clock }: { store: Pick<Store, 'read'>; clock: Clock },
  settings: { heloName: string; sourceAddresses: readonly string[] },
): Resolver {
  const { heloName } = settings
  const sourceAddresses = [...new Set([...settings.sourceAddresses, '127.0.0.1', '::1'])]
  let current: { readAt: number; resolver: Promise<Resolver> } | undefined

  const fresh = (): Promise<Resolver> => {
    const now = clock.now()
    if (current === undefined || !isRecent(current.readAt, now, maxAgeMs)) {
      const resolver = publishedRecords(store.read, { heloName, sourceAddresses }).then((records) =>
        staticResolver(records),
      )
      current = { readAt: now, resolver }
    }
    return current.resolver
  }

  return {
    mx: async (name) => (await fresh()).mx(name),
    a: async (name) => (await fresh()).a(name),
    aaaa: async (name) => (await fresh()).aaaa(name),
    txt: async (name) => (await fresh()).txt(name),
    cname: async (name) => (await fresh()).cname(name),
    ptr: async (address) => (await fresh()).ptr(address),
  }
}
