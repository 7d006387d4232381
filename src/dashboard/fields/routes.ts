import type { AccountPages } from '../shell/page.js'
import { changePages } from './change.js'
import type { FieldPageDeps } from './deps.js'
import { listPage } from './list.js'

/** What an account calls the fields of its contacts, what they take, and which of them recipients may change. */
export function fieldPages(pages: AccountPages, deps: FieldPageDeps): void {
  pages.get('/fields', 'contacts.read', (visit) => listPage(deps, visit))
  changePages(pages, deps)
}
