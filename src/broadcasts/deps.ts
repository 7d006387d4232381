import type { Plans } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { Store } from '../store/index.js'
import type { Renderer } from '../templates/index.js'

export interface BroadcastDeps {
  store: Store
  clock: Clock
  plans: Plans
  renderer: Renderer
  /** There is a campaign to expand; losing a call costs some seconds. */
  expand: () => void
}
