import type { Plans } from '../../billing/index.js'
import type { LiveGate, StreamKey } from '../../deliveries/index.js'
import type { ProtectionSettings } from '../../protection/index.js'
import type { Store } from '../../store/index.js'

export interface OverviewPageDeps {
  store: Store
  plans: Plans
  protection: ProtectionSettings
  gateOf: (stream: StreamKey) => Promise<LiveGate | undefined>
}
