import type { Plans } from '../billing/index.js'
import { serve } from '../contract/index.js'
import { type Api, reply } from '../http/index.js'
import type { AccountDeps } from './account.js'
import type { Principal } from './authenticate.js'
import { brandOf, changeBrand, shownBrand } from './brand.js'
import * as operations from './contract.js'
import { createKey, deleteKey, findKey, listKeys, updateKey } from './key.js'
import { deletedKey, limitsIn, shownKey } from './key-answer.js'

/** What the routes need. */
export type KeyRouteDeps = AccountDeps & { plans: Plans }

/** The routes of API keys, for full keys. No key makes one that may do more than itself. */
export function keyRoutes(api: Api<Principal>, deps: KeyRouteDeps): void {
  const { read } = deps.store

  serve(api, operations.listKeys, async ({ account }) => ({
    keys: (await listKeys(read, account.accountId)).map(shownKey),
  }))

  serve(api, operations.createKey, async ({ account, body, remember }) => {
    const { plans } = deps
    const made = await createKey(deps, account.accountId, body.name, {
      plans,
      by: account,
      limits: limitsIn(body),
      // The key itself is not stored: a repeated request gets the answer without it.
      alongside: (tx, key) => remember(tx, { ...shownKey(key), key: null }, 201),
    })
    return reply(201, { ...shownKey(made), key: made.key })
  })

  serve(api, operations.getKey, async ({ account, params }) =>
    shownKey(await findKey(read, account.accountId, params.id)),
  )

  serve(api, operations.updateKey, async (request) => {
    const { account, params, body } = request
    const changes = { ...limitsIn(body), ...(body.name !== undefined && { name: body.name }) }
    return shownKey(await updateKey(deps, account.accountId, params.id, changes, account))
  })

  serve(api, operations.deleteKey, async ({ account, params: { id }, note }) => {
    const by = { keepFull: true, by: account }
    const { name, scope } = await deleteKey(deps, account.accountId, id, by)
    note({ detail: { name, scope } })
    return deletedKey(id)
  })
}

/** `/v1/brand`: how the account looks to recipients. */
export function brandRoutes(api: Api<Principal>, deps: AccountDeps): void {
  serve(api, operations.getBrand, async ({ account }) =>
    shownBrand(await brandOf(deps.store.read, account.accountId)),
  )
  serve(api, operations.updateBrand, async ({ account, body }) =>
    shownBrand(await changeBrand(deps, account.accountId, body)),
  )
}
