import { exportContacts, requireList } from '../../contacts/index.js'
import { file } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import { changePages } from './change.js'
import type { ListPageDeps } from './deps.js'
import { showLists } from './list.js'
import { oneListPages } from './one.js'

/** Contact lists: who is on which, and how that changes. */
export function listPages(pages: AccountPages, deps: ListPageDeps): void {
  const { read } = deps.store
  pages.get('/lists', 'contacts.read', (visit) => showLists(deps, visit))
  changePages(pages, deps)
  oneListPages(pages, deps)
  pages.get('/lists/:id/contacts.csv', 'contacts.read', async ({ account, params }) => {
    const list = await requireList(read, account.id, params.id ?? '')
    const audit = { action: 'list.export', target: list.id }
    const saveAs = 'contacts.csv'
    const rows = exportContacts(read, account.id, list.id)
    return file(rows, 'text/csv; charset=utf-8', { saveAs, audit })
  })
}
