import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about topics need. */
export interface TopicPageDeps {
  store: Store
  clock: Clock
  plans: Plans
  /** The preference page as somebody sees it who gets everything; undefined: there is no such account. */
  sampleCentre(accountId: string): Promise<string | undefined>
}
