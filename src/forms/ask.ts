import { accountFace, brandOf } from '../accounts/index.js'
import { acceptEmail } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { countedAddress, countForAddress } from './asked-addresses.js'
import { confirmationMail } from './confirmation-mail.js'
import type { FormDeskDeps } from './deps.js'
import type { FormEntry } from './entry.js'
import { countFormMails, keepFormMail } from './follow.js'
import type { SignupForm } from './form.js'
import type { HeldReason } from './limits.js'
import { confirmationSenders } from './sender.js'

/** Why a mail that was about to be accepted was not: nothing of it is kept. */
class HeldBack extends Error {
  constructor(readonly reason: HeldReason) {
    super(`Held back: ${reason}`)
  }
}

interface Asking {
  isReminder: boolean
  /** Called with the mail's id. */
  alongside: (tx: Tx, mailId: string) => Promise<void>
}

/**
 * Sends the mail that asks for a confirmation, with `alongside` in its transaction. Resolves with why it does not: the
 * address has been asked often enough, which is counted with the mail, or the account may not send now.
 */
export async function askByMail(
  deps: FormDeskDeps,
  form: SignupForm,
  entry: FormEntry,
  { isReminder, alongside }: Asking,
): Promise<HeldReason | undefined> {
  try {
    return await askOrThrow(deps, form, entry, { isReminder, alongside })
  } catch (error) {
    return reasonOf(deps, error)
  }
}

/** Like `askByMail`, but throws what the account may not do, for a caller that may know it. */
export async function askOrThrow(
  deps: FormDeskDeps,
  form: SignupForm,
  entry: FormEntry,
  { isReminder, alongside }: Asking,
): Promise<HeldReason | undefined> {
  const { read } = deps.store
  const { accountId, email } = entry
  const hash = deps.tokens.hashOf(accountId, countedAddress(email))
  try {
    const face = await accountFace(read, accountId)
    if (face === undefined) throw new ApiError('not_found', 'There is no such account')
    const senderOf = await confirmationSenders(read, accountId)
    const content = confirmationMail({
      settings: form.settings,
      brand: await brandOf(read, accountId),
      accountName: face.name,
      from: senderOf(form) || form.settings.from,
      url: `${deps.publicUrl}/confirm/${deps.tokens.confirmation(entry.id)}`,
      isReminder,
    })
    const withMail = async (tx: Tx, { id }: { id: string }) => {
      const now = deps.clock.now()
      if (!(await countForAddress(tx, accountId, hash, now))) throw new HeldBack('address')
      await alongside(tx, id)
      await keepFormMail(tx, form.id, id, now)
      await countFormMails(tx, form.id, now, { mails: 1 })
    }
    const mail = { ...content, to: email }
    await acceptEmail(deps, accountId, mail, withMail, { isConfirmation: form.kind === 'page' })
    return undefined
  } catch (error) {
    if (error instanceof HeldBack) return error.reason
    throw error
  }
}

/** What an account may not do does not concern the person who fills in its form. */
export function reasonOf({ log }: Pick<FormDeskDeps, 'log'>, error: unknown): HeldReason {
  if (!(error instanceof ApiError)) throw error
  log.info({ error: error.message }, 'A form could not send its confirmation')
  return 'account'
}
