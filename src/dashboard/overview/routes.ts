import type { AccountPages } from '../shell/page.js'
import type { OverviewDeps } from './deps.js'
import { showOverview } from './overview.js'

/** The front page of an account. */
export function overviewPages(pages: AccountPages, deps: OverviewDeps): void {
  pages.get('', 'account.read', (visit) => showOverview(deps, visit))
}
