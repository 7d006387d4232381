import type { Principal } from '../accounts/index.js'
import { serve, usualPage } from '../contract/index.js'
import type { Api } from '../http/index.js'
import type { Store } from '../store/index.js'
import { clearedAnswer, testMailAnswer, testMailsAnswer } from './answers.js'
import * as operations from './contract.js'
import { clearMessages } from './messages.js'

/** The test inbox of an account, by the API. */
export function testInboxRoutes(api: Api<Principal>, { store }: { store: Store }): void {
  const { read, write } = store
  // A key that is limited to domains sees and clears only what was sent from these.
  const inboxOf = ({ accountId, domains }: Principal) => ({ read, accountId, domains })

  serve(api, operations.listTestMails, ({ account, query }) =>
    testMailsAnswer(inboxOf(account), { ...query, limit: query.limit ?? usualPage }),
  )

  serve(api, operations.getTestMail, async ({ account, params }) => ({
    message: await testMailAnswer(inboxOf(account), params.id),
  }))

  serve(api, operations.clearTestMails, async ({ account }) =>
    clearedAnswer(await clearMessages({ ...inboxOf(account), write })),
  )
}
