import type { AccountPages } from '../shell/page.js'
import type { OverviewPageDeps } from './deps.js'
import { showOverview } from './overview.js'

/** The front page of an account. */
export function overviewPages(pages: AccountPages, deps: OverviewPageDeps): void {
  pages.get('', 'account.read', (visit) => showOverview(deps, visit))
}
