import { findKey, type Principal } from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import { serve } from '../contract/index.js'
import type { Api } from '../http/index.js'
import type { Store } from '../store/index.js'
import * as operations from './contract.js'
import { decideSurge, refuseOwnKey } from './decide.js'
import { findSurge, shownSurge, surgesOf } from './surge.js'

const mostListed = 100

/** `/v1/surges`: what is held, and decisions about it. */
export function surgeRoutes(
  api: Api<Principal>,
  { store, clock }: { store: Store; clock: Clock },
): void {
  const { read } = store

  serve(api, operations.listSurges, async ({ account }) => ({
    surges: (await surgesOf(read, account.accountId, { limit: mostListed })).map(shownSurge),
  }))

  serve(api, operations.getSurge, async ({ account, params }) =>
    shownSurge(await findSurge(read, account.accountId, params.id)),
  )

  for (const [operation, decision] of [
    [operations.releaseSurge, 'released'],
    [operations.failSurge, 'failed'],
  ] as const) {
    serve(api, operation, async ({ account, params, remember }) => {
      const surge = await findSurge(read, account.accountId, params.id)
      if (decision === 'released') await refuseOwnKey(read, surge, account)
      const { name } = await findKey(read, account.accountId, account.keyId)
      return await store.write(async (tx) => {
        const how = { decision, by: `the key "${name}"`, now: clock.now() }
        const shown = shownSurge(await decideSurge(tx, surge.id, how))
        await remember(tx, shown)
        return shown
      })
    })
  }
}
