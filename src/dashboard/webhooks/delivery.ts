import { ApiError } from '../../errors/index.js'
import { storedJson } from '../../store/index.js'
import { findDelivery, findEndpoint } from '../../webhooks/index.js'
import { page } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import type { WebhookPageDeps } from './deps.js'
import { type DeliveryView, deliveryView, type EndpointView, endpointView } from './view.js'
import { whyNot } from './why.js'

/** What was sent and what came back, as plain values. */
interface OneDeliveryView {
  accountId: string
  mayReplay: boolean
  endpoint: EndpointView
  delivery: DeliveryView
  /** The mail that the event is about; undefined where it is about something else. */
  email: string | undefined
  /** The body, indented. */
  request: string
  status: number | null
  response: string
  error: string
  why: string | undefined
}

/** One request to an endpoint, and what was answered. */
export function deliveryPages(pages: AccountPages, deps: WebhookPageDeps): void {
  const { read } = deps.store
  pages.get('/webhooks/:id/deliveries/:delivery', 'webhooks.read', async (visit) => {
    const { account, base, params, now } = visit
    const found = await findEndpoint(read, account.id, params.id ?? '')
    const endpoint = endpointView(found, base, now)
    const number = deliveryNumber(params.delivery)
    const one = await findDelivery(read, account.id, found.id, number)
    // Indented for people; the sent bytes are the same without the spaces.
    const parsed = storedJson(one.body)
    const mayWrite = visit.may('webhooks.write')
    const view: OneDeliveryView = {
      accountId: account.id,
      endpoint,
      mayReplay: mayWrite && found.enabled && one.outcome !== 'waiting',
      delivery: deliveryView(one, endpoint.page, now),
      email: one.event.startsWith('email.') ? `${base}/emails/${one.emailId}` : undefined,
      request: parsed === undefined ? one.body : JSON.stringify(parsed, undefined, 2),
      status: one.status,
      response: one.response ?? '',
      error: one.error ?? '',
      why: whyNot(one),
    }
    return page('webhooks/delivery', view, { title: `${one.event} ${one.id}` })
  })
}

/** A delivery's number in a path; throws a 404 for anything else. */
export function deliveryNumber(text: string | undefined): number {
  // JavaScript represents every whole number of 15 digits exactly.
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text)
  throw new ApiError('not_found', 'There is no such delivery of this webhook')
}
