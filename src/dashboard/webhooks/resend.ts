import { auditOf } from '../../contract/index.js'
import { maybe, structOf, table, words } from '../../fields/index.js'
import * as operations from '../../webhooks/contract.js'
import { type DeliveryRange, findEndpoint, replay, triedWebhook } from '../../webhooks/index.js'
import { plural } from '../format.js'
import { page, redirect } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import { deliveryNumber } from './delivery.js'
import type { WebhookPageDeps } from './deps.js'
import { showEndpoint } from './one.js'
import { type EndpointView, endpointView } from './view.js'
import { whyNot } from './why.js'

/** The result of the test event. */
interface TriedView {
  endpoint: EndpointView
  isTaken: boolean
  status: number | undefined
  response: string
  error: string
  why: string | undefined
  tookMs: number
  request: string
}

const optional = maybe(words())
const ReplayForm = structOf(table({ from: optional, to: optional, failedOnly: optional }))

/** A test event, and sending again what went to an endpoint. */
export function resendPages(pages: AccountPages, deps: WebhookPageDeps): void {
  const { store, clock } = deps
  const again = (
    visit: Parameters<typeof showEndpoint>[1],
    faults: Parameters<typeof showEndpoint>[2],
  ) => showEndpoint(deps, visit, faults)

  pages.post('/webhooks/:id/test', { action: 'webhooks.write', again }, async (visit) => {
    const { account, base, params, now } = visit
    const found = await findEndpoint(store.read, account.id, params.id ?? '')
    const trial = await deps.tryWebhook(account.id, found.id)
    const { taken, status, tookMs, response, payload, ...tried } = triedWebhook(trial)
    const error = tried.error ?? ''
    const view: TriedView = {
      endpoint: endpointView(found, base, now),
      isTaken: taken,
      status: status ?? undefined,
      error,
      tookMs,
      response: response ?? '',
      why: whyNot({
        outcome: taken ? 'delivered' : 'failed',
        status,
        error,
        cause: trial.answer.kind === 'failed' ? trial.answer.cause : null,
        attempts: 1,
      }),
      request: JSON.stringify(payload, undefined, 2),
    }
    const audit = auditOf(operations.testWebhook, { target: found.id, detail: { taken } })
    return page('webhooks/tried', view, { title: 'The test event', audit })
  })

  const replaying = { action: 'webhooks.write', form: ReplayForm, again } as const
  pages.post('/webhooks/:id/replay', replaying, async ({ account, base, params, form }) => {
    const { id } = await findEndpoint(store.read, account.id, params.id ?? '')
    const which = rangeIn(form)
    const queued = await replay({ store, now: () => clock.now() }, account.id, id, which)
    const audit = auditOf(operations.replayWebhookDeliveries, {
      target: id,
      detail: { ...form, queued },
    })
    const flash =
      queued === 0 ? 'Nothing is to be sent again' : `${plural(queued, 'request')} queued again`
    return redirect(`${base}/webhooks/${id}`, { flash, audit })
  })
}

/** Both numbers; one of them for a single delivery; or none for all that did not arrive. */
function rangeIn({ from, to, failedOnly }: (typeof ReplayForm)['TYPE']): 'failed' | DeliveryRange {
  const [first, last] = [from?.trim() || to?.trim(), to?.trim() || from?.trim()]
  if (first === undefined || last === undefined) return 'failed'
  return {
    from: deliveryNumber(first),
    to: deliveryNumber(last),
    failedOnly: failedOnly !== undefined,
  }
}
