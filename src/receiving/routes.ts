import type { Principal } from '../accounts/index.js'
import { serve, usualPage } from '../contract/index.js'
import { type Api, LongReply, reply } from '../http/index.js'
import {
  receivedAnswer,
  receivedMailAnswer,
  shownChange,
  shownRule,
  whereAnswer,
} from './answers.js'
import * as operations from './contract.js'
import { deleteReceived } from './delete.js'
import { type AnswerWithContent, receivedFileAnswer, receivedSourceAnswer } from './file-answers.js'
import { addressIn } from './rule.js'
import { addRule, changeRule, deleteRule, findRule, listRules, type RuleDeps } from './rules.js'
import { usageAnswer } from './usage.js'

/** `/v1/receiving` and `/v1/received`: rules for incoming mail, and the received mails. */
export function receivingRoutes(api: Api<Principal>, deps: RuleDeps): void {
  const { read } = deps.store

  serve(api, operations.listReceivingRules, async ({ account }) => ({
    rules: (await listRules(read, account.accountId, deps.plans)).map(shownRule),
  }))

  serve(api, operations.addReceivingRule, async ({ account, body, remember }) => {
    const added = await addRule(deps, account.accountId, body, (tx, rule) =>
      remember(tx, shownRule(rule), 201),
    )
    return reply(201, shownRule(added))
  })

  serve(api, operations.getReceivingRule, async ({ account, params }) =>
    shownRule(await findRule(read, account.accountId, params.id, deps.plans)),
  )

  serve(api, operations.updateReceivingRule, async ({ account, params, body }) =>
    shownChange(await changeRule(deps, account.accountId, params.id, body)),
  )

  serve(api, operations.deleteReceivingRule, async ({ account, params: { id }, note }) => {
    const { pattern } = await deleteRule(deps, account.accountId, id)
    note({ detail: { name: pattern } })
    return { id, deleted: true, message: 'Rule deleted; what came in by it stays' }
  })

  serve(api, operations.whereWouldMailGo, async ({ account, query }) => {
    const { local, host } = addressIn(query.address)
    return await whereAnswer(deps, account.accountId, local, host)
  })

  serve(api, operations.getReceivingUsage, ({ account }) =>
    usageAnswer({ read, plans: deps.plans }, account.accountId, deps.clock.now()),
  )

  serve(api, operations.listReceived, ({ account, query }) =>
    receivedAnswer(read, account.accountId, { ...query, limit: query.limit ?? usualPage }),
  )

  serve(api, operations.getReceived, ({ account, params }) =>
    receivedMailAnswer(read, account.accountId, params.id),
  )

  serve(api, operations.getReceivedFile, async ({ account, params: { id, number } }) =>
    withContent(await receivedFileAnswer(read, account.accountId, id, number)),
  )

  serve(api, operations.getReceivedSource, async ({ account, params }) =>
    withContent(await receivedSourceAnswer(read, account.accountId, params.id)),
  )

  serve(api, operations.deleteReceived, async ({ account, params: { id }, note }) => {
    note({ detail: await deleteReceived(deps, account.accountId, id) })
    return { id, deleted: true, message: 'Mail deleted, with its files' }
  })
}

// Up to this size an answer is made at once: that takes a millisecond, and gives the answer a length.
const mostAtOnce = 256 * 1024

/** 27 MB of base64 as one JSON text hold up everybody for 0.2 s (30 Nov 2026), so a long answer is sent in pieces. */
async function withContent({ told, content, sizeBytes }: AnswerWithContent) {
  if (sizeBytes > mostAtOnce) return new LongReply(told, 'content', content)
  const texts: string[] = []
  for await (const text of content) texts.push(text)
  return { ...told, content: texts.join('') }
}
