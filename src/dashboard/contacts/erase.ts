import { string, type } from 'superstruct'
import { requireContact } from '../../contacts/index.js'
import { downloadOf } from '../../erasure/index.js'
import { ApiError } from '../../errors/index.js'
import { addressKey } from '../../mime/index.js'
import { file, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { ContactPageDeps } from './deps.js'
import { showContact } from './one.js'

const EraseForm = type({ typed: string() })

/** All that is known of somebody: in a file, or gone. */
export function erasePages(pages: AccountPages, deps: ContactPageDeps): void {
  const { read } = deps.store
  const again = (visit: Visit, faults: Faults) => showContact(deps, visit, faults)
  pages.get('/contacts/:id/everything.zip', 'contacts.write', async ({ account, params }) => {
    const { id, email } = await requireContact(read, account.id, params.id ?? '')
    const bytes = Buffer.from(await downloadOf(read, account.id, email))
    const audit = { action: 'contact.download', target: id }
    return file(bytes, 'application/zip', { saveAs: 'everything.zip', audit })
  })
  const erasing = { action: 'contacts.write', form: EraseForm, again } as const
  pages.post('/contacts/:id/erase', erasing, async ({ account, base, params, form, person }) => {
    const { email } = await requireContact(read, account.id, params.id ?? '')
    if (addressKey(form.typed.trim()) !== addressKey(email)) {
      const message = 'Type their address as it stands above'
      throw new ApiError('validation_error', message, { status: 422, fields: { field: 'typed' } })
    }
    const { id, name } = await deps.erasures.begin(account.id, email, person.id)
    return redirect(`${base}/tasks/${id}`, { audit: { action: 'contact.erase', target: name } })
  })
}
