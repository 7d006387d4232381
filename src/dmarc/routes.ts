import type { Principal } from '../accounts/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { serve } from '../contract/index.js'
import type { Resolver } from '../dns/index.js'
import { domainById } from '../domains/index.js'
import type { Api } from '../http/index.js'
import type { Store } from '../store/index.js'
import { getDomainDmarc, usualDays } from './contract.js'
import { makeNameSources, ownAddresses } from './names.js'
import { readDmarc } from './sources.js'

/** What the route needs. */
export interface DmarcRouteDeps {
  store: Store
  clock: Clock
  outbound: Config['outbound']
  /** A new one for each look, which remembers no answer of a moment ago. */
  openResolver: () => Resolver
}

/** What receivers report of mail in a domain's name. */
export function dmarcRoutes(api: Api<Principal>, deps: DmarcRouteDeps): void {
  const { store, clock, outbound } = deps
  const { read } = store
  serve(api, getDomainDmarc, async ({ account, params, query }) => {
    const { id, name } = await domainById(read, account.accountId, params.id)
    const resolver = deps.openResolver()
    const { since, ...summary } = await readDmarc(
      { read, clock },
      {
        domain: { id, name },
        days: query.days ?? usualDays,
        ownAddresses: await ownAddresses(outbound, resolver),
        nameSources: makeNameSources({ store, clock, resolver }),
      },
    )
    return { id, name, since: isoTime(since), ...summary }
  })
}
