import { string, type } from 'superstruct'
import { requireContact } from '../../contacts/index.js'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../erasure/contract.js'
import { downloadOf, fileNameOf } from '../../erasure/index.js'
import { file } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { ContactPageDeps } from './deps.js'
import { showContact } from './one.js'
import { erase } from './person-data.js'

const EraseContact = type({ typed: string() })

/** All that is known of a contact: in a file, or gone. `person-data.ts` has the same for everybody. */
export function erasePages(pages: AccountPages, deps: ContactPageDeps): void {
  const { read } = deps.store
  const again = (visit: Visit, faults: Faults) => showContact(deps, visit, faults)
  pages.get('/contacts/:id/everything.zip', 'contacts.write', async ({ account, params, now }) => {
    const { id, email } = await requireContact(read, account.id, params.id ?? '')
    const audit = auditOf(operations.downloadPerson, { target: id })
    const pieces = downloadOf(read, account.id, email, now)
    return file(pieces, 'application/zip', { saveAs: fileNameOf(email, now), audit })
  })
  const erasing = { action: 'contacts.write', form: EraseContact, again } as const
  pages.post('/contacts/:id/erase', erasing, async (visit) => {
    const { email } = await requireContact(read, visit.account.id, visit.params.id ?? '')
    return await erase(deps, visit, email, visit.form.typed)
  })
}
