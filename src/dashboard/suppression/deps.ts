import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about suppressions need. */
export interface SuppressionPageDeps {
  store: Store
  clock: Clock
}
