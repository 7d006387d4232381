import type { Principal } from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import { serve } from '../contract/index.js'
import type { Api } from '../http/index.js'
import type { Store } from '../store/index.js'
import { readStats } from './answer.js'
import { getStats } from './contract.js'
import { questionOf, seenBy } from './question.js'

/** Figures over time. */
export function statsRoutes(
  api: Api<Principal>,
  { store, clock }: { store: Store; clock: Clock },
): void {
  serve(api, getStats, async ({ account, query }) =>
    readStats(
      store.read,
      account.accountId,
      seenBy(account, questionOf({ ...query, test: query.test ?? account.isTest }, clock.now())),
    ),
  )
}
