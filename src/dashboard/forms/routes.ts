import type { AccountPages } from '../shell/page.js'
import type { FormPlaceDeps } from './deps.js'
import { editPages } from './edit.js'
import { formsPage } from './list.js'
import { oneFormPages } from './one.js'

/** The forms by which people sign up themselves. */
export function formPlacePages(pages: AccountPages, deps: FormPlaceDeps): void {
  pages.get('/forms', 'contacts.read', (visit) => formsPage(deps, visit))
  editPages(pages, deps)
  oneFormPages(pages, deps)
}
