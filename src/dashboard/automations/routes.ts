import { noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import { coursePages } from './course.js'
import type { AutomationPageDeps } from './deps.js'
import { eventPages } from './events.js'
import { showAutomations } from './list.js'
import { showAutomation } from './one.js'
import { automationPeoplePages } from './people.js'
import { inPlainWords } from './refusals.js'
import { showAutomationReport } from './report.js'

/** Automations: the list, where people are in each, and what can be done about it. */
export function automationPages(asked: AccountPages, deps: AutomationPageDeps): void {
  const pages = inPlainWords(asked)
  pages.get('/automations', 'automations.read', (visit) => showAutomations(deps, visit))
  pages.get('/automations/:id', 'automations.read', (visit) =>
    showAutomation(deps, visit, noFaults),
  )
  pages.get('/automations/:id/report', 'automations.read', (visit) =>
    showAutomationReport(deps, visit),
  )
  coursePages(pages, deps)
  automationPeoplePages(pages, deps)
  eventPages(pages, deps)
}
