import type { Clock } from '../clock/index.js'
import type { LaneDue } from '../deliveries/index.js'
import type { Store } from '../store/index.js'
import type { Renderer } from '../templates/index.js'

export interface EmailDeps {
  store: Store
  clock: Clock
  renderer: Renderer
  /** Tells the outbound threads what has fallen due; losing a ring costs a poll, never a mail. */
  ring: (due: readonly LaneDue[]) => void
  /** How long a delivery is tried before it is given up. */
  maxAgeMs: number
}
