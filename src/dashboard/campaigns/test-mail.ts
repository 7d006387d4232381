import type { AccountBilling } from '../../billing/index.js'
import {
  asRecipientsGet,
  filesOf,
  findBroadcast,
  givenOf,
  htmlOf,
  sendTest,
} from '../../broadcasts/index.js'
import { ApiError } from '../../errors/index.js'
import type { CampaignPageDeps } from './deps.js'

/** Sends what is saved of a draft, or of its version, to one mailbox; throws as `sendTest` does, and a 404 for no version. */
export async function sendCampaignTest(
  deps: CampaignPageDeps,
  billing: AccountBilling,
  id: string,
  { to, version, as }: { to: string; version?: string | undefined; as?: string | undefined },
) {
  const { read } = deps.store
  const whole = await findBroadcast(read, billing.accountId, id)
  const versions = await asRecipientsGet(read, whole)
  const chosen = version === undefined ? undefined : versions.find(({ key }) => key === version)
  if (version !== undefined && chosen === undefined) {
    throw new ApiError('not_found', `The campaign has no version ${version.slice(0, 8)}`)
  }
  const draft = chosen?.seen ?? whole
  const input = {
    // A test goes to no audience, and a draft may have none yet.
    audience: {},
    ...givenOf(draft),
    html: await htmlOf(read, draft),
    attachments: await filesOf(read, draft),
    to,
    as,
  }
  return await sendTest(deps, billing, input, async () => {})
}
