import * as operations from '../../automations/contract.js'
import {
  archiveAutomation,
  disableAutomation,
  findAutomation,
  pauseAutomation,
} from '../../automations/index.js'
import { auditOf } from '../../contract/index.js'
import { redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { showAutomation } from './one.js'

/** Pausing, turning off and archiving an automation. */
export function coursePages(pages: AccountPages, deps: AutomationPageDeps): void {
  const again = (visit: Visit, faults: Faults) => showAutomation(deps, visit, faults)
  const doing = { action: 'automations.write', again } as const

  pages.post('/automations/:id/pause', doing, async ({ account, base, params }) => {
    const found = await findAutomation(deps.store.read, account.id, params.id ?? '')
    await pauseAutomation(deps, found)
    return redirect(`${base}/automations/${found.id}`, {
      flash: 'Paused: nobody takes a step until it goes on',
      audit: auditOf(operations.pauseAutomation, { target: found.id }),
    })
  })

  pages.post('/automations/:id/disable', doing, async ({ account, base, params }) => {
    const { id } = await disableAutomation(deps, account.id, params.id ?? '')
    return redirect(`${base}/automations/${id}`, {
      flash: 'It is off: nobody enters it any more',
      audit: auditOf(operations.disableAutomation, { target: id }),
    })
  })

  pages.post('/automations/:id/archive', doing, async ({ account, base, params }) => {
    const { id } = await archiveAutomation(deps, account.id, params.id ?? '')
    return redirect(`${base}/automations/${id}`, {
      flash: 'It is archived, and everybody has left it',
      audit: auditOf(operations.archiveAutomation, { target: id }),
    })
  })
}
