import type { Clock } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** What the page about the brand needs. */
export interface BrandPageDeps {
  store: Store
  clock: Clock
  /** Where the account's past campaigns are served. */
  publicUrl: string
  /** A form's page, as one document; undefined: there is no such account. */
  sampleForm(accountId: string): Promise<string | undefined>
}
