import type { Principal } from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { serve } from '../contract/index.js'
import type { Resolver } from '../dns/index.js'
import { domainById } from '../domains/index.js'
import type { Api } from '../http/index.js'
import type { Store } from '../store/index.js'
import { dmarcAnswer } from './answer.js'
import { getDomainDmarc } from './contract.js'

/** What the route needs. */
export interface DmarcRouteDeps {
  store: Store
  clock: Clock
  outbound: Config['outbound']
  /** A new resolver for each look, which remembers no answer of a moment ago. */
  openResolver: () => Resolver
}

/** What receivers report of mail in a domain's name. */
export function dmarcRoutes(api: Api<Principal>, deps: DmarcRouteDeps): void {
  const { store, clock, outbound } = deps
  const { read } = store
  serve(api, getDomainDmarc, async ({ account, params, query }) => {
    const { id, name } = await domainById(read, account.accountId, params.id)
    const asked = { domain: { id, name }, days: query.days }
    return await dmarcAnswer({ store, clock, outbound, resolver: deps.openResolver() }, asked)
  })
}
