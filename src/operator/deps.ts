import type { Plans } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { RetriedLanes } from '../deliveries/index.js'
import type { Overview } from '../doctor/index.js'
import type { LandEvents } from '../events/index.js'
import type { Store } from '../store/index.js'

/** What the operator's API needs. */
export interface OperatorApiDeps {
  store: Store
  clock: Clock
  config: Config
  plans: Plans
  land: LandEvents
  /** The files of shaping, ours first. */
  shapingFiles: () => string[]
  running: {
    overview(): Promise<Overview>
    /** Tries the mail of these domains even where a site is suspended; none: orders have changed. */
    retry(lanes: RetriedLanes): void
  }
}
