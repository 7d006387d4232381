import { type Clock, isoTime } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { Store } from '../store/index.js'
import { makeNameSources, ownAddresses } from './names.js'
import { readDmarc, usualDays } from './sources.js'

/** What an answer is made with. */
export interface DmarcDeps {
  store: Store
  clock: Clock
  outbound: Config['outbound']
  resolver: Resolver
}

/** What receivers report of mail in a domain's name, as the API and the command answer it. */
export async function dmarcAnswer(
  { store, clock, outbound, resolver }: DmarcDeps,
  { domain, days = usualDays }: { domain: { id: string; name: string }; days?: number | undefined },
) {
  const { id, name } = domain
  const { since, ...summary } = await readDmarc(
    { read: store.read, clock },
    {
      domain: { id, name },
      days,
      ownAddresses: await ownAddresses(outbound, resolver),
      nameSources: makeNameSources({ store, clock, resolver }),
    },
  )
  return { id, name, since: isoTime(since), ...summary }
}
