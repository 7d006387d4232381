import { optional, type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import { domainById } from '../domains/index.js'
import { QueryInteger, Uuid } from '../fields/index.js'
import type { Api } from '../http/index.js'
import type { Store } from '../store/index.js'
import { makeNameSources, ownAddresses } from './names.js'
import { keptDays, readDmarc } from './sources.js'

/** What the route needs. */
export interface DmarcRouteDeps {
  store: Store
  clock: Clock
  outbound: Config['outbound']
  /** A new one for each look, which remembers no answer of a moment ago. */
  openResolver: () => Resolver
}

const usualDays = 30
const Question = {
  params: type({ id: Uuid }),
  query: type({ days: optional(QueryInteger(1, keptDays)) }),
  notFound: 'The account has no sending domain with this id',
}

/** What receivers report of mail in a domain's name. */
export function dmarcRoutes(api: Api<Principal>, deps: DmarcRouteDeps): void {
  const { store, clock, outbound } = deps
  const { read } = store
  api.get('/v1/domains/:id/dmarc', Question, async ({ account, params, query }) => {
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
