import {
  countNotArrived,
  deliveryPage,
  findEndpoint,
  type WebhookDelivery,
} from '../../webhooks/index.js'
import { plural } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { WebhookPageDeps } from './deps.js'
import { type DeliveryView, deliveryView, type EndpointView, endpointView } from './view.js'
import { whyNot } from './why.js'

/** An endpoint's page. */
interface OneWebhookView extends BesidePages {
  accountId: string
  mayWrite: boolean
  endpoint: EndpointView
  failedOnly: boolean
  enabled: boolean
  deliveries: DeliveryView[]
  /** Why the newest failed delivery failed. */
  why: { id: number; text: string; error: string } | undefined
  /** How much a replay sends, in words; undefined: everything arrived. */
  notArrived: string | undefined
  faults: Faults
}

const pageSize = 50

/** An endpoint: its state, and what was sent there, 50 to a page. */
export async function showEndpoint(
  { store: { read } }: Pick<WebhookPageDeps, 'store'>,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, params, query, now } = visit
  const found = await findEndpoint(read, account.id, params.id ?? '')
  const failed = query.get('show') === 'failed'
  const path = `${base}/webhooks/${found.id}`
  const listing = { path, query, filters: { show: failed ? 'failed' : undefined } }
  const { rows: deliveries, ...beside } = await listOf(listing, (cursor) =>
    deliveryPage(read, account.id, found.id, { failed, limit: pageSize, cursor }),
  )
  const endpoint = endpointView(found, base, now, deliveries.find(isRetried))
  const notArrived = await countNotArrived(read, found.id)
  // The newest come first, so that the map keeps the oldest of each mail.
  const waiting = deliveries.filter(({ outcome }) => outcome === 'waiting')
  const firstOf = new Map(waiting.map(({ emailId, id }) => [emailId, id]))
  const view: OneWebhookView = {
    accountId: account.id,
    mayWrite: visit.may('webhooks.write'),
    endpoint,
    faults,
    failedOnly: failed,
    enabled: found.enabled,
    deliveries: deliveries.map((delivery) =>
      deliveryView(delivery, endpoint.page, now, firstOf.get(delivery.emailId)),
    ),
    why: whyOf(deliveries),
    notArrived: notArrived === 0 ? undefined : plural(notArrived, 'event'),
    ...beside,
  }
  return page('webhooks/one', view, { title: endpoint.title })
}

/** The page of one endpoint. */
export function oneWebhookPages(pages: AccountPages, deps: WebhookPageDeps): void {
  pages.get('/webhooks/:id', 'webhooks.read', (visit) => showEndpoint(deps, visit, noFaults))
}

/** The delivery waits after a failed attempt. */
const isRetried = ({ outcome, attempts }: WebhookDelivery) => outcome === 'waiting' && attempts > 0

/** Explains the newest failure of the page: the others mostly have the same cause. */
function whyOf(deliveries: readonly WebhookDelivery[]): OneWebhookView['why'] {
  const failed = deliveries.find(({ outcome }) => outcome === 'failed')
  const text = failed && whyNot(failed)
  if (failed === undefined || text === undefined) return undefined
  return { id: failed.id, text, error: failed.error ?? `HTTP ${failed.status}` }
}
