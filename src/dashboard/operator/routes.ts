import type { OperatorPages } from '../shell/page.js'
import { accountPages } from './account.js'
import { accountChangePages } from './account-change.js'
import { accountPeoplePages } from './account-people.js'
import { accountListPages } from './accounts.js'
import { backupPages } from './backups.js'
import type { OperatorPageDeps } from './deps.js'
import { doctorPages } from './doctor.js'
import { failoverPages } from './failover.js'
import { heldPages } from './held.js'
import { inboundPages } from './inbound.js'
import { jobPages } from './jobs.js'
import { nodePages } from './nodes.js'
import { overviewPages } from './overview.js'
import { parkedPages } from './parked.js'
import { queuePages } from './queue.js'
import { queueChangePages } from './queue-change.js'
import { settingsPages } from './settings.js'
import { siteOrderPages } from './site-orders.js'
import { sitePages } from './sites.js'
import { userPages } from './users.js'

/** The pages for people who run the appliance, below `/operator`. */
export function operatorPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  overviewPages(pages, deps)
  accountListPages(pages, deps)
  accountPages(pages, deps)
  accountChangePages(pages, deps)
  accountPeoplePages(pages, deps)
  queuePages(pages, deps)
  queueChangePages(pages, deps)
  heldPages(pages, deps)
  sitePages(pages, deps)
  siteOrderPages(pages, deps)
  failoverPages(pages, deps)
  inboundPages(pages, deps)
  parkedPages(pages, deps)
  doctorPages(pages, deps)
  jobPages(pages, deps)
  nodePages(pages, deps)
  backupPages(pages, deps)
  settingsPages(pages, deps)
  userPages(pages, deps)
}
