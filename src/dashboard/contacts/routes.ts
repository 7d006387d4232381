import type { AccountPages } from '../shell/page.js'
import { taskPages } from '../tasks/routes.js'
import { addPages } from './add.js'
import { changePages } from './change.js'
import type { ContactPageDeps } from './deps.js'
import { erasePages } from './erase.js'
import { fittingPages } from './fitting.js'
import { joinPages } from './joins.js'
import { showContacts } from './list.js'
import { showContact } from './one.js'
import { personDataPages } from './person-data.js'
import { selectedPages } from './selected.js'
import { showWaiting } from './waiting.js'

/** The people whom an account writes to. */
export function contactPages(pages: AccountPages, deps: ContactPageDeps): void {
  pages.get('/contacts', 'contacts.read', (visit) => showContacts(deps, visit))
  addPages(pages, deps)
  pages.get('/contacts/waiting', 'contacts.read', (visit) => showWaiting(deps, visit))
  selectedPages(pages, deps)
  fittingPages(pages, deps)
  personDataPages(pages, deps)
  taskPages(pages, deps)
  pages.get('/contacts/:id', 'contacts.read', (visit) => showContact(deps, visit))
  changePages(pages, deps)
  joinPages(pages, deps)
  erasePages(pages, deps)
}
