import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

export interface SuppressionPageDeps {
  store: Store
  clock: Clock
}
