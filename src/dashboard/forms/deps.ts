import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about forms need. */
export interface FormPlaceDeps {
  store: Store
  clock: Clock
  plans: Plans
  /** Where recipients reach the public listener. */
  publicUrl: string
}
