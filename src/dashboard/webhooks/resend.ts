import { optional, string, type } from 'superstruct'
import { makeRateLimiter, refuseExcess } from '../../http/index.js'
import { type DeliveryRange, findEndpoint, replay, tryEndpoint } from '../../webhooks/index.js'
import { plural } from '../format.js'
import { page, redirect } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import { deliveryNumber } from './delivery.js'
import type { WebhookPageDeps } from './deps.js'
import { showEndpoint } from './one.js'
import { type EndpointView, endpointView } from './view.js'
import { whyNot } from './why.js'

/** What came of the test event. */
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

// As for the API: each opens connections to an address of the client's choice.
const trials = { requests: 10, windowMs: 60_000 }

const ReplayForm = type({
  from: optional(string()),
  to: optional(string()),
  failedOnly: optional(string()),
})

/** A test event, and sending again what went to an endpoint. */
export function resendPages(pages: AccountPages, deps: WebhookPageDeps): void {
  const { store, clock, allow } = deps
  // By account: all of its people share it.
  const trying = makeRateLimiter(trials, clock)
  const again = (
    visit: Parameters<typeof showEndpoint>[1],
    faults: Parameters<typeof showEndpoint>[2],
  ) => showEndpoint(deps, visit, faults)

  pages.post('/webhooks/:id/test', { action: 'webhooks.write', again }, async (visit) => {
    const { account, base, params, now } = visit
    const found = await findEndpoint(store.read, account.id, params.id ?? '')
    refuseExcess(trying.take(account.id))
    // Nobody cuts the test off: it has its own time limit, as every attempt.
    const { signal } = new AbortController()
    const trial = { ...deps, read: store.read, resolver: deps.openResolver(), allow, signal }
    const { answer, body, tookMs } = await tryEndpoint(trial, account.id, found.id)
    const status = 'status' in answer ? answer.status : undefined
    const error = 'error' in answer ? answer.error : ''
    const isTaken = answer.kind === 'taken'
    const view: TriedView = {
      endpoint: endpointView(found, base, now),
      isTaken,
      status,
      error,
      tookMs,
      response: 'response' in answer ? answer.response : '',
      why: whyNot({
        outcome: isTaken ? 'delivered' : 'failed',
        status: status ?? null,
        error,
        cause: answer.kind === 'failed' ? answer.cause : null,
        attempts: 1,
      }),
      request: JSON.stringify(JSON.parse(body), undefined, 2),
    }
    const audit = { action: 'webhook.test', target: found.id, detail: { taken: isTaken } }
    return page('webhooks/tried', view, { title: 'The test event', audit })
  })

  const replaying = { action: 'webhooks.write', form: ReplayForm, again } as const
  pages.post('/webhooks/:id/replay', replaying, async ({ account, base, params, form }) => {
    const { id } = await findEndpoint(store.read, account.id, params.id ?? '')
    const which = rangeIn(form)
    const queued = await replay({ store, now: () => clock.now() }, account.id, id, which)
    const audit = { action: 'webhook.replay', target: id, detail: { ...form, queued } }
    const flash =
      queued === 0 ? 'Nothing is to be sent again' : `${plural(queued, 'request')} queued again`
    return redirect(`${base}/webhooks/${id}`, { flash, audit })
  })
}

/** Both numbers, one of them alone for a single delivery, or none for all that did not arrive. */
function rangeIn({ from, to, failedOnly }: (typeof ReplayForm)['TYPE']): 'failed' | DeliveryRange {
  const [first, last] = [from?.trim() || to?.trim(), to?.trim() || from?.trim()]
  if (first === undefined || last === undefined) return 'failed'
  return {
    from: deliveryNumber(first),
    to: deliveryNumber(last),
    failedOnly: failedOnly !== undefined,
  }
}
