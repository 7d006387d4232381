import type { AccountPages } from '../shell/page.js'
import { createPages } from './create.js'
import type { KeyPageDeps } from './deps.js'
import { listPage } from './list.js'
import { makeOnce } from './once.js'
import { oneKeyPages } from './one.js'

/** API keys of an account. */
export function keyPages(pages: AccountPages, deps: KeyPageDeps): void {
  pages.get('/keys', 'keys.read', (visit) => listPage(deps.store.read, visit))
  createPages(pages, { ...deps, once: makeOnce() })
  oneKeyPages(pages, deps)
}
