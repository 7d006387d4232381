import { array, optional, string, type } from 'superstruct'
import * as automations from '../../automations/contract.js'
import { checkOpen, readBilling } from '../../billing/index.js'
import * as operations from '../../contacts/contract.js'
import {
  listsOfContacts,
  putOnList,
  requireContact,
  takeOffList,
  wantConfirmation,
} from '../../contacts/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { ContactPageDeps } from './deps.js'
import { showContact } from './one.js'

const ListsForm = type({
  were: array(string()),
  lists: array(string()),
  trigger: optional(string()),
  agreed: optional(string()),
})
const StartForm = type({ automation: string() })

/** The lists that somebody is on, and automations that are started for them: what they join. */
export function joinPages(pages: AccountPages, deps: ContactPageDeps): void {
  const { store } = deps
  const again = (visit: Visit, faults: Faults) => showContact(deps, visit, faults)

  const lists = { action: 'contacts.write', form: ListsForm, again } as const
  pages.post('/contacts/:id/lists', lists, async ({ account, base, params, form, person }) => {
    const contact = await requireContact(store.read, account.id, params.id ?? '')
    const on = new Set(
      (await listsOfContacts(store.read, [contact.id])).get(contact.id)?.map(({ id }) => id),
    )
    const wanted = new Set(form.lists)
    // By what the page showed: what has changed since stays as it is.
    const were = new Set(form.were)
    const added = form.lists.filter((id) => !were.has(id) && !on.has(id))
    const agreed = form.agreed?.trim() || undefined
    const asks = agreed === undefined ? await askingAmong(store.read, account.id, added) : []
    const joins = added.filter((id) => !asks.includes(id))
    const leaves = form.were.filter((id) => on.has(id) && !wanted.has(id))
    if (added.length > 0) checkOpen(await readBilling(store.read, deps.plans, account.id))
    if (leaves.length > 0 && leaves.length === on.size && joins.length === 0) {
      throw new ApiError(
        'validation_error',
        'Somebody who is taken off their last list is deleted: leave one, or delete them below',
        { status: 422, fields: { field: 'lists' } },
      )
    }
    const { follow, checkRoom, followed, askFirst } = deps.contacts
    const starts = form.trigger !== undefined && added.length > 0
    if (starts) await checkRoom?.()
    if (asks.length > 0) {
      const given = { email: contact.email }
      await askFirst(account.id, { given, listIds: asks, note: `Added by ${person.email}`, starts })
    }
    const options = { by: 'dashboard', note: agreed, ...(starts && { follow }) }
    // Those that are joined first: who is on no list in between would be deleted.
    for (const listId of joins) {
      await putOnList(deps, account.id, { listId, ids: [contact.id] }, options)
    }
    for (const listId of leaves) await takeOffList(deps, account.id, listId, [contact.id])
    if (starts) followed?.()
    const detail = { joined: joins, asked: asks, left: leaves, trigger: starts }
    const audit = auditOf(operations.updateContactIn(''), { target: contact.id, detail })
    const flash =
      asks.length === 0
        ? 'The lists are saved'
        : 'The lists are saved. They are asked by mail, and on the lists that want it once they have pressed its button'
    return redirect(`${base}/contacts/${contact.id}`, { flash, audit })
  })

  const starting = { action: 'automations.write', form: StartForm, again } as const
  pages.post('/contacts/:id/start', starting, async ({ account, base, params, form }) => {
    const { id, email } = await requireContact(store.read, account.id, params.id ?? '')
    const billing = await readBilling(store.read, deps.plans, account.id)
    const whom = { automationId: form.automation, contactId: id }
    const run = await deps.contacts.startRun(billing, whom)
    const flash = `“${run.name}” has begun for ${email}`
    const audit = auditOf(automations.startRun, {
      target: form.automation,
      detail: { run: run.id },
    })
    return redirect(`${base}/contacts/${id}`, { flash, audit })
  })
}

/** Those of some lists that ask people first. */
async function askingAmong(read: Read, accountId: string, lists: readonly string[]) {
  const asking: string[] = []
  for (const id of lists) if (await wantConfirmation(read, accountId, [id])) asking.push(id)
  return asking
}
