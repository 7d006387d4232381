import t from 'tap'
import { countSetAside } from '../../src/webhooks/index.js'
import { FakeClock } from '../support/clock.js'
import { turnsDuring } from '../support/turns.js'
import { webhookRig } from '../support/webhooks.js'

t.test('what is set aside is counted by endpoint and reason, with turns for others', async (t) => {
  const { store, accountId, endpoint } = await webhookRig(t, { clock: new FakeClock() })
  const { id: one } = await endpoint('https://one.test/')
  const { id: two } = await endpoint('https://two.test/')
  const { id: gone } = await endpoint('https://gone.test/')
  await store.write(async (tx) => {
    const rows = Array.from({ length: 30 }, (_, n) => ({
      id: n + 1,
      endpoint_id: [one, two, gone][n % 3] ?? '',
      account_id: accountId,
      email_id: 'm',
      event: 'email.sent',
      body: '{}',
      attempts: 1,
      status: null,
      outcome: n < 24 ? ('dropped' as const) : ('failed' as const),
      response: null,
      error: n < 6 ? null : n < 12 ? 'disabled' : 'restored',
      cause: n < 12 ? null : ('restored' as const),
      created_at: n,
      ended_at: n,
    }))
    await tx.insertInto('webhook_deliveries').values(rows).execute()
    const deleted = tx.updateTable('webhook_endpoints').set({ deleted_at: 1 })
    await deleted.where('id', '=', gone).execute()
  })
  const { value, turns } = await turnsDuring(() => countSetAside(store.read))
  const told = value.map(({ endpointId, reason, events, oldestAt }) =>
    [endpointId === one ? 'one' : 'two', reason, events, oldestAt].join(' '),
  )
  t.same(told.sort(), [
    'one  2 0',
    'one disabled 2 6',
    'one restored 4 12',
    'two  2 1',
    'two disabled 2 7',
    'two restored 4 13',
  ])
  t.same(
    value.filter(({ cause }) => cause === 'restored').map(({ reason }) => reason),
    ['restored', 'restored'],
  )
  t.match(value[0], { accountId, enabled: true, url: /^https:/ })
  t.ok(turns >= 5, `${turns} turns for others`)
  t.same(await countSetAside(store.read, 'another'), [])
})
