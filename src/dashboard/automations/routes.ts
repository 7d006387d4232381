import { noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import { coursePages } from './course.js'
import type { AutomationPageDeps } from './deps.js'
import { showAutomations } from './list.js'
import { showAutomation } from './one.js'

/** Automations: what there is, where people are in each, and what can be done about it. */
export function automationPages(pages: AccountPages, deps: AutomationPageDeps): void {
  pages.get('/automations', 'automations.read', (visit) => showAutomations(deps, visit))
  pages.get('/automations/:id', 'automations.read', (visit) =>
    showAutomation(deps, visit, noFaults),
  )
  coursePages(pages, deps)
}
