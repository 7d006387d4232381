import type { Waiting } from '../../deliveries/index.js'
import type { EmailRecord } from '../../emails/index.js'
import { suppressionsAmong } from '../../suppression/index.js'
import type { Visit } from '../shell/visit.js'
import type { EmailPageDeps } from './deps.js'

/** What this person may do with a mail at this moment; nothing is offered that would be refused. */
export interface ActionsView {
  cancel: boolean
  retry: boolean
  /** To a new mail with the content of this one. */
  again: string | undefined
  addresses: { address: string; suppressed: string | undefined; page: string }[]
  /** Set when there are too many recipients to offer it for each. */
  suppression: string | undefined
}

// A form for each.
const maxAddresses = 10

export async function actionsOf(
  { store }: Pick<EmailPageDeps, 'store'>,
  { account, may, base }: Visit,
  email: EmailRecord,
  waiting: readonly Waiting[],
): Promise<ActionsView> {
  const maySend = may('emails.send')
  const addresses = email.recipients.map(({ email }) => email)
  const few = may('suppression.write') && addresses.length <= maxAddresses
  const reasons = few
    ? await suppressionsAmong(store.read, account.id, addresses)
    : new Map<string, Set<string>>()
  const hasContent = !email.contentDeleted && email.broadcastId === null
  return {
    cancel: maySend && email.status === 'scheduled',
    retry: maySend && waiting.some(({ attempts, held }) => attempts > 0 && held === null),
    again: maySend && hasContent ? `${base}/emails/new?again=${email.id}` : undefined,
    addresses: (few ? addresses : []).map((address) => ({
      address,
      suppressed: [...(reasons.get(address.toLowerCase()) ?? [])].join(', ') || undefined,
      page: `${base}/suppression/address?${new URLSearchParams({ email: address })}`,
    })),
    suppression: addresses.length > maxAddresses ? `${base}/suppression` : undefined,
  }
}
