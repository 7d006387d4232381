import type { Pages } from '../http/index.js'
import { sessionCookie } from '../people/index.js'
import { auditPages } from './audit/routes.js'
import { automationEditPages } from './automation-edit/routes.js'
import { automationPages } from './automations/routes.js'
import { brandPages } from './brand/routes.js'
import { campaignReportPages } from './campaigns/report-routes.js'
import { campaignPages } from './campaigns/routes.js'
import { contactPages } from './contacts/routes.js'
import type { DashboardDeps } from './deps.js'
import { domainPages } from './domains/routes.js'
import { emailPages } from './emails/routes.js'
import { entryPages } from './entry/routes.js'
import { fieldPages } from './fields/routes.js'
import { formPlacePages } from './forms/routes.js'
import { frontPage } from './home.js'
import { testInboxPages } from './inbox/routes.js'
import { keyPages } from './keys/routes.js'
import { listPages } from './lists/routes.js'
import { livePages } from './live/routes.js'
import { operatorPages } from './operator/routes.js'
import { overviewPages } from './overview/routes.js'
import { picturePages } from './pictures/routes.js'
import { planPages } from './plan/routes.js'
import { receivedPages } from './received/routes.js'
import { rulePages } from './received/rules.js'
import { referencePages } from './reference/routes.js'
import { makeFollowLinks } from './sandbox/follow-links.js'
import { sandboxRoutes } from './sandbox/routes.js'
import { segmentPages } from './segments/routes.js'
import { settingsPages } from './settings/routes.js'
import { type AddedPage, makeShell } from './shell/page.js'
import { peopleOf } from './shell/people.js'
import { builtOf, fixedRoutes, staticRoutes } from './shell/static-files.js'
import { suppressionPages } from './suppression/routes.js'
import { surgePages } from './surges/routes.js'
import { teamPages } from './team/routes.js'
import { makeRenderedPages } from './templates/rendered.js'
import { templatePages } from './templates/routes.js'
import { topicPages } from './topics/routes.js'
import { webhookPages } from './webhooks/routes.js'

/** The scripts that the build makes. Pages work without them too. */
const scripts = ['posthorn.js', 'editor.js', 'steps.js']

/** Adds the front page, the static files, the pages of who is logged in and, in sandbox mode, the inbox; tells which. */
export function dashboardRoutes(pages: Pages, deps: DashboardDeps): readonly AddedPage[] {
  fixedRoutes(pages, ['posthorn.css', 'refresh.js', 'icon.svg'])
  staticRoutes(pages, ['posthorn.css', 'icon.svg', ...builtOf(scripts)])
  // A line for each place: `keyPages(shell.account, deps)`.
  const followLinks = makeFollowLinks({ ...deps, allow: deps.webhookTargets })
  const flashKey = deps.key.derive('message for the next page')
  const shell = makeShell(pages, { ...deps, flashKey, people: peopleOf(deps.people) })
  frontPage(shell.open, { ...deps, people: peopleOf(deps.people) })
  livePages(shell.person, deps)
  contactPages(shell.account, deps)
  suppressionPages(shell.account, deps)
  listPages(shell.account, deps)
  segmentPages(shell.account, deps)
  topicPages(shell.account, deps)
  fieldPages(shell.account, deps)
  formPlacePages(shell.account, deps)
  brandPages(shell.account, deps)
  domainPages(shell.account, deps)
  keyPages(shell.account, deps)
  surgePages(shell.account, deps)
  receivedPages(shell.account, deps)
  rulePages(shell.account, deps)
  testInboxPages(shell.account, { ...deps, followLinks })
  webhookPages(shell.account, { ...deps, allow: deps.webhookTargets })
  // The appliance always gives these; tests of other pages leave them out.
  if (deps.mail !== undefined) {
    overviewPages(shell.account, deps.mail)
    // A preview of either is shown in a frame, which asks for it a moment later.
    const { publicUrl } = deps
    const more = { followLinks, publicUrl }
    const mail = { ...deps.mail, ...more, rendered: makeRenderedPages(deps.memory, 'mail') }
    emailPages(shell.account, mail)
    templatePages(shell.account, mail)
    campaignReportPages(shell.account, mail)
    campaignPages(shell.account, mail)
  }
  if (deps.automations !== undefined) {
    const { publicUrl } = deps
    const rendered = makeRenderedPages(deps.memory, 'mail of an automation')
    const editing = { tracking: deps.mail?.tracking, publicUrl, rendered }
    automationEditPages(shell.account, { ...deps.automations, ...editing })
    automationPages(shell.account, deps.automations)
  }
  picturePages(shell.account, deps)
  planPages(shell.account, deps)
  settingsPages(shell.account, deps)
  operatorPages(shell.operator, deps.operator)
  entryPages(shell, {
    people: deps.people,
    cookie: sessionCookie(deps.people.key),
    plainHttp: deps.plainHttp,
    provider: deps.provider,
    memory: deps.memory,
  })
  teamPages(shell.account, deps)
  auditPages(shell, deps)
  referencePages(shell.open, pages, { ...deps, people: peopleOf(deps.people) })
  // Without a log-in: it is there in sandbox mode alone, where mail is nobody's.
  if (deps.sandbox) sandboxRoutes(shell.open, pages, { ...deps, followLinks })
  shell.leadBack()
  return shell.added
}
