import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about segments need. */
export interface SegmentPageDeps {
  store: Store
  clock: Clock
  plans: Plans
}
