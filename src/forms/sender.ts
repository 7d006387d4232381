import { accountFace, brandOf, senderOf } from '../accounts/index.js'
import { verifiedDomains } from '../domains/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'
import type { SignupForm } from './form.js'

/**
 * The senders of an account's forms' confirmations: as the form says, else as the brand does, else an address of the
 * account's first domain. Empty: the account may not send from there, so nobody gets any.
 */
export async function confirmationSenders(
  read: Read,
  accountId: string,
): Promise<(form: Pick<SignupForm, 'settings'>) => string> {
  const domains = await verifiedDomains(read, accountId)
  const [first] = domains
  const senderName = (await accountFace(read, accountId))?.name ?? ''
  const defaultFrom = first === undefined ? '' : `no-reply@${first}`
  const usual = senderOf(await brandOf(read, accountId)) ?? senderOf({ senderName, defaultFrom })
  return ({ settings }) => {
    const from = settings.from || usual || ''
    return domains.includes(parseMailbox(from)?.domain ?? '') ? from : ''
  }
}
