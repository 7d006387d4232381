import type { Principal } from '../accounts/index.js'
import { checkOpen, type Plans, readBilling } from '../billing/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { serve } from '../contract/index.js'
import { type Api, reply } from '../http/index.js'
import type { Store } from '../store/index.js'
import { createdTopic, shownTopic, topicsAnswer } from './answers.js'
import * as operations from './contract.js'
import { listOptOuts } from './opt-out.js'
import { createTopic, updateTopic } from './topic.js'

export interface TopicRouteDeps {
  store: Store
  clock: Clock
  plans: Plans
}

/**
 * `/v1/topics`: list, create, change, archive, and who has left. Only creating needs an open
 * account: one that has not paid may still read and sort what it has.
 */
export function topicRoutes(api: Api<Principal>, deps: TopicRouteDeps): void {
  const { read } = deps.store

  serve(api, operations.listTopics, ({ account, query }) =>
    topicsAnswer(read, account.accountId, query.includeArchived),
  )

  serve(api, operations.createTopic, async ({ account: { accountId }, body, remember }) => {
    checkOpen(await readBilling(read, deps.plans, accountId))
    const topic = await createTopic(deps, accountId, body, (tx, topic) =>
      // The answer is remembered in the same transaction: a repeat with this Idempotency-Key makes
      // no second topic.
      remember(tx, createdTopic(topic), 201),
    )
    return reply(201, createdTopic(topic))
  })

  serve(api, operations.updateTopic, async ({ account, params, body }) => {
    return shownTopic(await updateTopic(deps, account.accountId, params.id, body))
  })

  // DELETE archives. A topic is never deleted, as its opt-outs must hold for as long as somebody
  // might send on it.
  serve(api, operations.archiveTopic, async ({ account, params }) => {
    await updateTopic(deps, account.accountId, params.id, { archived: true })
    return { message: 'Topic archived; opt-outs are kept' }
  })

  serve(api, operations.listOptOuts, async ({ account, params }) => {
    const { maxOptOuts } = operations
    const { topic, optOuts } = await listOptOuts(read, account.accountId, params.id, maxOptOuts)
    return {
      topic,
      optOuts: optOuts.map((one) => ({ ...one, optedOutAt: isoTime(one.optedOutAt) })),
    }
  })
}
