import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'
import type { AccountPages } from '../shell/page.js'
import { showPlan } from './plan.js'

/** What an account has of its plans, and what it has used of them. */
export function planPages(
  pages: AccountPages,
  deps: { store: Store; clock: Clock; plans: Plans },
): void {
  pages.get('/plan', 'plan.read', (visit) => showPlan(deps, visit))
}
