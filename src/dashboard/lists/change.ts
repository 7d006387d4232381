import { checkOpen, readBilling } from '../../billing/index.js'
import * as operations from '../../contacts/contract.js'
import {
  changeList,
  createList,
  deleteList,
  importOnto,
  onlyOnList,
  requireList,
} from '../../contacts/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { maybe, structOf, table, words } from '../../fields/index.js'
import { plural } from '../format.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import { refuseStale } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import type { ListPageDeps } from './deps.js'
import { markOfList, showList, usesOf } from './one.js'

/** The form of a new list. */
interface NewListView {
  base: string
  faults: Faults
}

/** What goes with a list. */
interface DeleteListView {
  page: string
  id: string
  name: string
  people: string
  count: number
  /** How many of them are on no other list, in words; undefined: none. */
  forGood: string | undefined
  /** What names it, in words. */
  uses: string[]
  /** An import that puts people on it, which has to end first. */
  importing: { page: string; filename: string; isPaused: boolean } | undefined
  faults: Faults
}

const ListForm = structOf(table({ name: operations.listName, doubleOptIn: maybe(words()) }))
const DeleteForm = structOf(table({ name: words() }))

/** Lists are made, renamed and deleted. */
export function changePages(pages: AccountPages, deps: ListPageDeps): void {
  const { read } = deps.store
  const showNew = async ({ base }: Visit, faults: Faults): Promise<PageAnswer> => {
    const view: NewListView = { base, faults }
    return page('lists/new', view, { title: 'New list' })
  }
  pages.get('/lists/new', 'contacts.write', (visit) => showNew(visit, noFaults))
  const making = { action: 'contacts.write', form: ListForm, again: showNew } as const
  pages.post('/lists/new', making, async ({ account, base, form }) => {
    checkOpen(await readBilling(read, deps.plans, account.id))
    const { id, name } = await createList(deps, account.id, settingsIn(form))
    const audit = auditOf(operations.createContactList, { target: id })
    return redirect(`${base}/lists/${id}`, { flash: `The list “${name}” is made`, audit })
  })

  const again = (visit: Visit, faults: Faults) => showList(deps, visit, faults)
  const changing = { action: 'contacts.write', form: ListForm, again } as const
  pages.post('/lists/:id', changing, async ({ account, base, params, form, fields }) => {
    refuseStale(fields, markOfList(await requireList(read, account.id, params.id ?? '')))
    const { id, name, doubleOptIn } = await changeList(
      deps,
      account.id,
      params.id ?? '',
      settingsIn(form),
    )
    const detail = { name, doubleOptIn }
    const audit = auditOf(operations.renameContactList, { target: id, detail })
    return redirect(`${base}/lists/${id}`, { flash: 'Saved', audit })
  })

  const showDelete = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base, params } = visit
    const list = await requireList(read, account.id, params.id ?? '')
    const importing = await importOnto(read, account.id, list.id)
    const view: DeleteListView = {
      page: `${base}/lists/${list.id}`,
      id: list.id,
      name: list.name,
      people: plural(list.contactCount, 'contact'),
      count: list.contactCount,
      forGood: forGood(await onlyOnList(read, list.id), list.contactCount),
      uses: await usesOf(read, account.id, list.id),
      importing: importing && { ...importing, page: `${base}/contacts/import/${importing.id}` },
      faults,
    }
    return page('lists/delete', view, { title: `Delete ${list.name}` })
  }
  pages.get('/lists/:id/delete', 'contacts.write', (visit) => showDelete(visit, noFaults))
  const deleting = { action: 'contacts.write', form: DeleteForm, again: showDelete } as const
  pages.post('/lists/:id/delete', deleting, async ({ account, base, params, form }) => {
    const { id, name, contactCount } = await requireList(read, account.id, params.id ?? '')
    // Typed, not clicked: contacts go for good with it.
    if (form.name.trim() !== name) {
      const message = `Type ${name} to delete it`
      throw new ApiError('validation_error', message, { status: 422, fields: { field: 'name' } })
    }
    await deleteList(deps, account.id, id)
    const audit = auditOf(operations.deleteContactList, {
      target: id,
      detail: { name, contactCount },
    })
    return redirect(`${base}/lists`, { flash: `The list “${name}” is deleted`, audit })
  })
}

const settingsIn = ({ name, doubleOptIn }: { name: string; doubleOptIn?: string | undefined }) => ({
  name,
  doubleOptIn: doubleOptIn !== undefined,
})

/** How many contacts go with the list, as far as that was looked at. */
function forGood(
  { count, of }: { count: number; of: number | undefined },
  all: number,
): string | undefined {
  if (of === undefined) return count === 0 ? undefined : plural(count, 'contact')
  // The oldest were looked at, who say nothing of the others.
  const others = Math.max(0, all - of).toLocaleString('en-GB')
  return `At least ${plural(count, 'contact')}, and perhaps the ${others} that were not looked at, are`
}
