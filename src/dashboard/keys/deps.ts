import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about API keys need. */
export interface KeyPageDeps {
  store: Store
  clock: Clock
  plans: Plans
}
