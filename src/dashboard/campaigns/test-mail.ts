import type { AccountBilling } from '../../billing/index.js'
import { filesOf, findBroadcast, givenOf, htmlOf, sendTest } from '../../broadcasts/index.js'
import type { CampaignPageDeps } from './deps.js'

/** Sends what is saved of a draft to one mailbox; throws as `sendTest` does. */
export async function sendCampaignTest(
  deps: CampaignPageDeps,
  billing: AccountBilling,
  id: string,
  to: string,
) {
  const { read } = deps.store
  const draft = await findBroadcast(read, billing.accountId, id)
  const input = {
    // A test goes to no audience, and a draft may have none yet.
    audience: {},
    ...givenOf(draft),
    html: await htmlOf(read, draft),
    attachments: await filesOf(read, draft),
    to,
  }
  return await sendTest(deps, billing, input, async () => {})
}
