import type { Principal } from '../accounts/index.js'
import { serve } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, reply } from '../http/index.js'
import { refuseInexact } from '../json/index.js'
import type { BulkOrder } from './bulk-task/order.js'
import { type BulkTasks, findBulk, shownBulk } from './bulk-task/tasks.js'
import * as operations from './contract.js'
import type { ContactDeps } from './list.js'

/** Work with all matching contacts. */
export function bulkRoutes(api: Api<Principal>, deps: ContactDeps & { bulk: BulkTasks }): void {
  const { read } = deps.store
  const { bulk } = deps

  serve(api, operations.changeContacts, async ({ account: { accountId }, body, remember }) => {
    const { q, list, segment, state, all, ...given } = body
    refuseInexact('metadata', body.metadata)
    const filters = [q, list, segment, state]
    if (filters.every((one) => one === undefined) && all !== true) {
      const message = 'Give a filter, or all: true for every contact of the account'
      throw new ApiError('validation_error', message, { status: 422 })
    }
    const order: BulkOrder = {
      ...given,
      search: { q, listId: list, segmentId: segment, state },
      by: 'api',
    }
    const id = await bulk.begin(accountId, order, 'api', {
      alongside: (tx, task) => remember(tx, shownBulk(task), 202),
    })
    return reply(202, shownBulk(await findBulk(read, accountId, id)))
  })

  serve(api, operations.getBulkTask, async ({ account, params }) =>
    shownBulk(await findBulk(read, account.accountId, Number(params.id))),
  )

  serve(api, operations.stopBulkTask, async ({ account, params }) =>
    shownBulk(await bulk.change(account.accountId, Number(params.id), 'stopped')),
  )
}
