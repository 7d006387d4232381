import { object, string } from 'superstruct'
import { counted } from '../../amounts/index.js'
import { auditOf } from '../../contract/index.js'
import { cancelEmail } from '../../emails/contract.js'
import { cancelScheduled, readEmail, retryEmail } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { addSuppression, removeSuppression } from '../../suppression/contract.js'
import { lift, suppress } from '../../suppression/index.js'
import { redirect } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { EmailPageDeps } from './deps.js'
import { mailIdOf, showMail } from './mail.js'

const AddressForm = object({ address: string() })

/** Cancel, retry now, suppress, and lift a suppression. */
export function actionPages(pages: AccountPages, deps: EmailPageDeps): void {
  const again = (visit: Visit, faults: Parameters<typeof showMail>[2]) =>
    showMail(deps, visit, faults)
  // All four lead back to the mail's page, which shows what they did.
  const back = ({ base, params }: Pick<Visit, 'base' | 'params'>) => `${base}/emails/${params.id}`

  pages.post('/emails/:id/cancel', { action: 'emails.send', again }, async (visit) => {
    const id = mailIdOf(visit)
    await cancelScheduled(deps, visit.account.id, id)
    const audit = auditOf(cancelEmail, { target: id })
    return redirect(back(visit), { flash: 'The mail is cancelled and will not leave.', audit })
  })

  pages.post('/emails/:id/retry', { action: 'emails.send', again }, async (visit) => {
    const id = mailIdOf(visit)
    const deliveries = await retryEmail(deps, visit.account.id, id)
    const flash = `${counted(deliveries, 'delivery', 'deliveries')} due now.`
    return redirect(back(visit), { flash, audit: { action: 'email.retry', target: id } })
  })

  const address = { action: 'suppression.write' as const, form: AddressForm, again }
  pages.post('/emails/:id/suppress', address, async (visit) => {
    const to = await recipientOf(deps, visit, visit.form.address)
    const emailId = mailIdOf(visit)
    const given = { email: to, reason: 'manual', emailId } as const
    await deps.store.write((tx) => suppress(tx, visit.account.id, given, visit.now))
    const audit = auditOf(addSuppression, { target: to })
    return redirect(back(visit), { flash: `${to} gets no more mail of this account.`, audit })
  })

  pages.post('/emails/:id/unsuppress', address, async (visit) => {
    const to = await recipientOf(deps, visit, visit.form.address)
    const lifting = { by: 'dashboard', at: visit.now } as const
    const lifted = await deps.store.write((tx) => lift(tx, visit.account.id, to, lifting))
    if (lifted === 0) throw new ApiError('not_found', `${to} is not suppressed`)
    const audit = auditOf(removeSuppression, { target: to })
    return redirect(back(visit), { flash: `${to} may be mailed again.`, audit })
  })
}

/** One of the mail's recipients; the mail's page changes no other address. */
async function recipientOf(
  { store }: EmailPageDeps,
  visit: Pick<Visit, 'account' | 'params'>,
  address: string,
): Promise<string> {
  const { recipients } = await readEmail(store.read, visit.account.id, mailIdOf(visit))
  const found = recipients.find(({ email }) => email === address)
  if (found !== undefined) return found.email
  throw new ApiError('validation_error', 'The mail has no such recipient')
}
