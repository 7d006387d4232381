import type { Plans } from '../../billing/index.js'
import type { SharedCounts } from '../../bounded/index.js'
import type { Clock } from '../../clock/index.js'
import type { ApplianceKey, Config } from '../../config/index.js'
import type { Resolver } from '../../dns/index.js'
import type { RecordSettings } from '../../domains/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about domains need. */
export interface DomainPageDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  plans: Plans
  /** What the records to publish depend on. */
  records: RecordSettings
  /** Where mail leaves from: this tells reports apart. */
  outbound: Config['outbound']
  /** Makes a resolver for each look, so that no answer of a moment ago is remembered. */
  openResolver: () => Resolver
  /** What other nodes count too; undefined where there are none. */
  counts?: Pick<SharedCounts, 'of'> | undefined
}
