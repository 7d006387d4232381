import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about fields of contacts need. */
export interface FieldPageDeps {
  store: Store
  clock: Clock
  plans: Plans
}
