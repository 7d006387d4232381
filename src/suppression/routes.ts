import type { Principal } from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import { serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, reply } from '../http/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Store, Tx } from '../store/index.js'
import {
  addedSuppression,
  addressAnswer,
  newSuppression,
  removedSuppression,
  suppressionsAnswer,
} from './answers.js'
import * as operations from './contract.js'
import { lift, type NewSuppression, suppress, suppressionReasons } from './suppress.js'

/** What the routes need. */
export interface SuppressionRouteDeps {
  store: Store
  clock: Clock
}

// Addresses in a transaction: a few milliseconds, in which mail that is being accepted waits.
const perWrite = 200

/** Who must not be mailed, and why, by the API; an account that may add nothing may still suppress. */
export function suppressionRoutes(
  api: Api<Principal>,
  { store, clock }: SuppressionRouteDeps,
): void {
  const { read } = store

  serve(api, operations.listSuppressions, ({ account, query }) =>
    suppressionsAnswer(read, account.accountId, { ...query, limit: query.limit ?? usualPage }),
  )

  serve(api, operations.addSuppression, async ({ account, body, remember }) => {
    const given = newSuppression(body)
    if (typeof given === 'string') {
      throw new ApiError('validation_error', given, { status: 422, fields: { field: 'email' } })
    }
    const { status, answer } = await store.write(async (tx) => {
      const { isNew, answer } = await addedSuppression(tx, account.accountId, given, clock.now())
      const status = isNew ? 201 : 200
      await remember(tx, answer, status)
      return { status, answer }
    }, account.accountId)
    return reply(status, answer)
  })

  serve(api, operations.importSuppressions, async ({ account, body, remember }) => {
    const items = body.suppressions.map(newSuppression)
    const good = items.filter((item) => typeof item !== 'string')
    const refused = items.flatMap((error, index) =>
      typeof error === 'string' ? [{ index, error }] : [],
    )
    const answer = (added: number) => ({ added, known: good.length - added, refused })
    for (let start = 0, before = 0; ; start += perWrite) {
      const some = good.slice(start, start + perWrite)
      const added = await store.write(async (tx) => {
        const total = before + (await suppressSome(tx, account.accountId, some, clock.now()))
        // Written with the last slice: when a crash cut the work short, a repeat does the rest.
        if (start + perWrite >= good.length) await remember(tx, answer(total))
        return total
      }, account.accountId)
      if (start + perWrite >= good.length) return answer(added)
      before = added
    }
  })

  serve(api, operations.getSuppression, ({ account, params }) =>
    addressAnswer(read, account.accountId, addressOf(params.email)),
  )

  serve(api, operations.removeSuppression, async ({ account, params, query }) => {
    const email = addressOf(params.email)
    const reasons = query.reason === undefined ? suppressionReasons : [query.reason]
    const lifting = { by: 'api', at: clock.now(), reasons } as const
    const removed = await store.write(
      (tx) => lift(tx, account.accountId, email, lifting),
      account.accountId,
    )
    if (removed === 0) throw new ApiError('not_found', `${email} is not suppressed`)
    return removedSuppression(email, removed)
  })
}

/** Records some addresses in one transaction; resolves with how many records are new. */
async function suppressSome(tx: Tx, accountId: string, some: NewSuppression[], now: number) {
  let added = 0
  for (const given of some) if (await suppress(tx, accountId, given, now)) added++
  return added
}

/** The address in a path, in lower case; throws a 404 for anything that is not an address. */
function addressOf(given: string): string {
  const mailbox = parseMailbox(given)
  if (mailbox === undefined) throw new ApiError('not_found', operations.address.notFound)
  return mailbox.address.toLowerCase()
}
