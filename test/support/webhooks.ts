import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { loadPlans } from '../../src/billing/index.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { type MailEvent, makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import type { Store } from '../../src/store/index.js'
import {
  addEndpoint,
  type CourierDeps,
  makeWebhookJobs,
  openCourier,
  readDeliveries,
  type WebhookEvent,
  webhookEvents,
} from '../../src/webhooks/index.js'
import { fakeResolver } from './resolver.js'
import { openTestStore } from './store.js'
import { rsaPair } from './template.js'

export const plans = loadPlans('config/plans.toml')
export const key = makeApplianceKey(Buffer.alloc(32, 7))

/** An account with a domain and the first account's plan, and the parts that make and send its webhooks. */
export async function webhookRig(t: Test, options: { clock?: Clock; store?: Store } = {}) {
  const clock = options.clock ?? systemClock
  const store = options.store ?? (await openTestStore(t, { clock }))
  const account = await createAccount({ store, clock }, 'Shop')
  const domain = await addDomain({ store, clock, key }, account.id, 'shop.test', {
    trust: true,
    rsaPair: await rsaPair(),
  })
  const land = makeLandEvents([makeWebhookJobs(plans)])
  const deps = { store, clock, key }
  const deliveries = (endpointId: string, failed = false) =>
    readDeliveries(store.read, account.id, endpointId, { failed, limit: 1_000 })
  return {
    store,
    clock,
    accountId: account.id,
    domain,
    deliveries,
    /** A mail in the log, to one address unless more are given. */
    async mail(to: readonly string[] = ['a@one.test']): Promise<string> {
      const id = store.ids.uuid()
      await store.write((tx) =>
        tx
          .insertInto('emails')
          .values({
            id,
            account_id: account.id,
            domain_id: domain.id,
            body_id: null,
            from_header: 'x@shop.test',
            to_list: JSON.stringify(to),
            reply_to: null,
            subject: 'Order “7”',
            type: 'transactional',
            topic_id: null,
            metadata: null,
            status: 'sent',
            message_id: `<${id}@shop.test>`,
            provider: 'primary',
            waiting: 0,
            delivered: 0,
            bounced: 0,
            failed: 0,
            opened_at: null,
            clicked_at: null,
            scheduled_at: null,
            sent_at: null,
            created_at: clock.now(),
          })
          .execute(),
      )
      return id
    },
    /** Lets something happen to a mail, in a transaction, as `deliveries` does. */
    land: (emailId: string, type: MailEvent['type'], more: Partial<MailEvent> = {}) =>
      store.write((tx) =>
        land(tx, [
          {
            accountId: account.id,
            emailId,
            deliveryId: 1,
            recipient: 'a@one.test',
            class: 0,
            type,
            at: clock.now(),
            reply: null,
            detail: null,
            ...more,
          },
        ]),
      ),
    endpoint: (url: string, events: readonly WebhookEvent[] = webhookEvents) =>
      addEndpoint(deps, plans, account.id, { url, events }),
    async courier(more: Partial<CourierDeps> = {}) {
      const courier = await openCourier({
        ...deps,
        log: silentLog,
        meter: silentMeter,
        resolver: fakeResolver(),
        allow: ['127.0.0.0/8'],
        ...more,
      })
      let closed: Promise<void> | undefined
      const close = () => (closed ??= courier.close(0))
      t.teardown(close)
      return { close, letGo: courier.letGo }
    },
    /** Waits for the log of an endpoint to hold so many. */
    async logged(endpointId: string, count: number) {
      for (let waited = 0; waited < 20_000; waited += 10) {
        const ended = (await deliveries(endpointId)).filter(({ outcome }) => outcome !== 'waiting')
        if (ended.length >= count) return ended
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      throw new Error(`No ${count} deliveries: ${JSON.stringify(await deliveries(endpointId))}`)
    },
  }
}
