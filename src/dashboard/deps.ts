import type { Document } from '../openapi/index.js'
import type { PeopleDeps, TrustedProvider } from '../people/index.js'
import type { WebhookTrials } from '../webhooks/index.js'
import type { AutomationPageDeps } from './automations/deps.js'
import type { BrandPageDeps } from './brand/deps.js'
import type { CampaignPageDeps } from './campaigns/deps.js'
import type { ContactPageDeps } from './contacts/deps.js'
import type { DomainPageDeps } from './domains/deps.js'
import type { EmailPageDeps } from './emails/deps.js'
import type { FieldPageDeps } from './fields/deps.js'
import type { FormPlaceDeps } from './forms/deps.js'
import type { ImportPageDeps } from './lists/deps.js'
import type { OperatorPageDeps } from './operator/deps.js'
import type { OverviewPageDeps } from './overview/deps.js'
import type { NodeMemory } from './shell/node-memory.js'
import type { TopicPageDeps } from './topics/deps.js'

/** What all pages together need; `app` puts it together. */
export interface DashboardDeps
  extends DomainPageDeps,
    ContactPageDeps,
    TopicPageDeps,
    FieldPageDeps,
    FormPlaceDeps,
    BrandPageDeps,
    ImportPageDeps {
  /** `webhooks.allow`: where webhooks may go beside public addresses. */
  webhookTargets: readonly string[]
  tryWebhook: WebhookTrials
  /** Whether mail is tracked where neither domain nor account says it. */
  tracking: { opens: boolean; clicks: boolean }
  /** Whether mail goes to the built-in inbox, which then has pages. */
  sandbox: boolean
  /** Where backups are; empty: none are made. */
  backupDir: string
  people: PeopleDeps
  memory: NodeMemory
  /** The description of the API's routes, for `/reference`. */
  document: () => Promise<Document>
  /** What the pages about an account's mail need; undefined: there are no such pages. */
  mail?: EmailPageDeps & OverviewPageDeps & Pick<CampaignPageDeps, 'rehearsing'>
  /** Undefined: there are no pages about automations. */
  automations?: AutomationPageDeps
  operator: OperatorPageDeps
  /** `http.private.allowed_hosts`. */
  hostNames: readonly string[]
  /** People may log in without TLS from anywhere. */
  plainHttp: boolean
  /** By whom people log in too; undefined: by us alone. */
  provider?: TrustedProvider | undefined
  /** Mails somebody in the appliance's name; resolves with whether it can. */
  sendNotice(mail: { to: string; subject: string; text: string }): Promise<boolean>
}
