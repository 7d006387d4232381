import type { AccountPages } from '../shell/page.js'
import { addPages } from './add.js'
import type { DomainPageDeps } from './deps.js'
import { dmarcPages } from './dmarc.js'
import { listPage } from './list.js'
import { oneDomainPages } from './one.js'
import { removePages } from './remove.js'

/** The sending domains of an account. */
export function domainPages(pages: AccountPages, deps: DomainPageDeps): void {
  pages.get('/domains', 'domains.read', (visit) => listPage(deps.store.read, visit))
  addPages(pages, deps)
  oneDomainPages(pages, deps)
  removePages(pages, deps)
  dmarcPages(pages, deps)
}
