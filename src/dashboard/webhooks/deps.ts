import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { ApplianceKey } from '../../config/index.js'
import type { Resolver } from '../../dns/index.js'
import type { Store } from '../../store/index.js'
import type { WebhookTrials } from '../../webhooks/index.js'

/** What the pages about webhooks need. */
export interface WebhookPageDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  plans: Plans
  /** Makes a resolver for each look, so that no answer of a moment ago is remembered. */
  openResolver: () => Resolver
  /** `webhooks.allow`. */
  allow: readonly string[]
  tryWebhook: WebhookTrials
}
