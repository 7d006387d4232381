import { makeOnce } from '../keys/once.js'
import type { AccountPages } from '../shell/page.js'
import { createPages } from './create.js'
import { deliveryPages } from './delivery.js'
import type { WebhookPageDeps } from './deps.js'
import { listPage } from './list.js'
import { oneWebhookPages } from './one.js'
import { resendPages } from './resend.js'
import { settingsPages } from './settings.js'

/** An account's webhooks: the endpoints, what was sent to them, and sending it again. */
export function webhookPages(pages: AccountPages, deps: WebhookPageDeps): void {
  // Shared by both pages, as creating and rotating each show a secret that must be made only once.
  const once = makeOnce()
  pages.get('/webhooks', 'webhooks.read', (visit) => listPage(deps, visit))
  createPages(pages, { ...deps, once })
  oneWebhookPages(pages, deps)
  deliveryPages(pages, deps)
  resendPages(pages, deps)
  settingsPages(pages, { ...deps, once })
}
