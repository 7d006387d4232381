import type { TakeOuts } from '../../automations/index.js'
import type { AccountBilling, Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { AskFirst, BulkTasks, ContactEffect } from '../../contacts/index.js'
import type { Erasures } from '../../erasure/index.js'
import type { Store } from '../../store/index.js'

/** What the pages about contacts need. */
export interface ContactPageDeps {
  store: Store
  clock: Clock
  plans: Plans
  bulk: BulkTasks
  takeOuts: TakeOuts
  erasures: Erasures
  contacts: {
    /** The country of phone numbers without an international prefix; ISO 3166, e.g. `NG`. */
    defaultCountry: string
    askFirst: AskFirst
    /** Starts an automation for one contact. Throws why it does not. */
    startRun: (
      billing: AccountBilling,
      whom: { automationId: string; contactId: string },
    ) => Promise<{ id: string; name: string }>
    /** What follows when somebody becomes a contact or joins a list. */
    follow?: ContactEffect
    /** Throws a 503 when what follows has no room. */
    checkRoom?: () => Promise<void>
    /** Called once that is on disk. */
    followed?: () => void
  }
}
