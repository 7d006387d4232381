import type { Plans } from '../../billing/index.js'
import type { GateOf } from '../../deliveries/index.js'
import type { ProtectionSettings } from '../../protection/index.js'
import type { Store } from '../../store/index.js'

/**
 * What the front page of an account reads. `gateOf` asks the outbound threads why a stream's mail
 * waits.
 */
export interface OverviewPageDeps {
  store: Store
  plans: Plans
  protection: ProtectionSettings
  gateOf: GateOf
}
