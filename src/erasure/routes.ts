import type { Principal } from '../accounts/index.js'
import { serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, reply } from '../http/index.js'
import { parseMailbox } from '../mime/index.js'
import { cursorOf, idInCursor, type Store } from '../store/index.js'
import * as operations from './contract.js'
import { downloadAnswer } from './download.js'
import { type Erasures, erasureAnswer, shownErasure } from './tasks.js'

/** Somebody's data by the API. An account that may send nothing may still do all of this: the right is the person's. */
export function erasureRoutes(
  api: Api<Principal>,
  { store: { read }, erasures }: { store: Store; erasures: Erasures },
): void {
  serve(api, operations.downloadPerson, async ({ account, params, query }) => {
    const { limit = usualPage, cursor } = query
    const mailbox = parseMailbox(params.email)
    if (mailbox === undefined) throw new ApiError('not_found', 'This is not an email address')
    const { address } = mailbox
    const scope = `person ${account.accountId} ${address.toLowerCase()}`
    const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
    const { next, ...found } = await downloadAnswer(read, account.accountId, address, {
      limit,
      before,
    })
    const nextCursor = next === undefined ? null : cursorOf(next, scope)
    return { ...found, hasMore: nextCursor !== null, nextCursor }
  })

  serve(api, operations.erasePerson, async ({ account: { accountId }, body, remember }) => {
    const { id } = await erasures.begin(accountId, body.address, 'api', (tx, task) =>
      remember(tx, shownErasure(task, 0), 202),
    )
    return reply(202, await erasureAnswer(read, accountId, id))
  })

  serve(api, operations.getErasure, ({ account, params }) =>
    erasureAnswer(read, account.accountId, Number(params.id)),
  )
}
