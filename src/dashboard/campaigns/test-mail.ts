import type { AccountBilling } from '../../billing/index.js'
import { findBroadcast, htmlOf, sendTest } from '../../broadcasts/index.js'
import { readExtras } from '../../store/index.js'
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
  const { replyTo, headers, tags } = readExtras(draft.extras) ?? {}
  const given = draft.reply_to ?? (replyTo && [...replyTo])
  const input = {
    // A test goes to no audience, and a draft may have none yet.
    audience: {},
    from: draft.from_header,
    subject: draft.subject,
    html: await htmlOf(read, draft),
    previewText: draft.preview_text ?? undefined,
    topicId: draft.topic_id ?? undefined,
    replyTo: given,
    headers: headers && { ...headers },
    tags: tags && [...tags],
    to,
  }
  return await sendTest(deps, billing, input, async () => {})
}
