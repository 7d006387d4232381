import t, { type Test } from 'tap'
import type { EventDetail, MailEvent } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  liftExpired,
  suppress,
  suppressedAmong,
  suppressFailing,
  suppressionsOf,
} from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const hour = 3_600_000
const day = 24 * hour
const address = 'ada@x.test'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  let delivery = 0
  const land = (type: MailEvent['type'], detail: EventDetail | null, deliveryId = ++delivery) =>
    store.write(async (tx) => {
      const of = { accountId: 'a', emailId: 'm', class: 0, at: clock.now() } as const
      const event: MailEvent = {
        ...of,
        deliveryId,
        recipient: address,
        type,
        reply: '552 x',
        detail,
      }
      await suppressFailing(tx, [event])
      return deliveryId
    })
  const isSuppressed = async () =>
    (await suppressedAmong(store.read, 'a', [address], 'transactional')).size > 0
  return {
    store,
    clock,
    log: silentLog,
    land,
    isSuppressed,
    softly: (deliveryId?: number) => land('bounced', { suppress: 'repeated' }, deliveryId),
    records: () => suppressionsOf(store.read, 'a', address),
    rows: () => store.read.selectFrom('soft_bounces').selectAll().execute(),
    /** `f` a mail that fails softly, `s` one that is delivered, numbers are hours that pass. */
    async story(steps: readonly ('f' | 's' | number)[]) {
      for (const step of steps) {
        if (typeof step === 'number') await clock.advance(step * hour)
        else if (step === 's') await land('delivered', null)
        else await land('bounced', { suppress: 'repeated' })
      }
      return await isSuppressed()
    },
  }
}

t.test('three mails in a row over 72 hours, and nothing less, suppress an address', async (t) => {
  for (const [expected, ...steps] of [
    [false, 'f'],
    [false, 'f', 72, 'f'],
    [true, 'f', 36, 'f', 36, 'f'],
    [true, 'f', 'f', 72, 'f'],
    [false, 'f', 'f', 71, 'f'],
    [true, 'f', 'f', 71, 'f', 1, 'f'],
    [false, 'f', 36, 'f', 's', 36, 'f'],
    [false, 'f', 36, 's', 'f', 36, 'f', 35, 'f'],
    [true, 'f', 36, 's', 'f', 36, 'f', 36, 'f'],
    [false, 'f', 'f', 91 * 24, 's', 'f', 'f', 'f'],
  ] as const) {
    t.equal(await (await open(t)).story(steps), expected, steps.join(' '))
  }
})

t.test('it ends after 30 days, and then counting begins anew', async (t) => {
  const list = await open(t)
  await list.story(['f', 36, 'f', 36, 'f'])
  const [record] = await list.records()
  t.match(record, {
    reason: 'bounce',
    scope: 'all',
    emailId: 'm',
    detail: '552 x',
    expiresAt: list.clock.now() + 30 * day,
  })
  t.same(await list.rows(), [])
  await list.clock.advance(30 * day - 1)
  await liftExpired(list, new AbortController().signal)
  t.equal(await list.isSuppressed(), true)
  await list.clock.advance(1)
  await liftExpired(list, new AbortController().signal)
  t.equal(await list.isSuppressed(), false)
  t.equal(await list.story(['f', 71, 'f', 'f']), false)
  t.equal(await list.story([1, 'f']), true)
})

t.test('what proves that nobody is there suppresses at once and for good', async (t) => {
  const list = await open(t)
  await list.story(['f', 36, 'f', 36, 'f'])
  await list.land('bounced', { bounceType: 'Permanent', suppress: 'now' })
  t.match(await list.records(), [{ reason: 'bounce', expiresAt: null }], 'over what would end')
  await list.store.write((tx) =>
    suppress(tx, 'a', { email: address, reason: 'bounce', expiresAt: 1 }, list.clock.now()),
  )
  t.match(await list.records(), [{ expiresAt: null }], 'and never the other way')
  await list.clock.advance(400 * day)
  await liftExpired(list, new AbortController().signal)
  t.equal(await list.isSuppressed(), true)
})

t.test('what says nothing about the address has no effect on it', async (t) => {
  const list = await open(t)
  await list.land('bounced', { bounceType: 'Transient', bounceClass: 'content' })
  await list.land('failed', null)
  await list.land('deferred', { bounceClass: 'mailbox-full' })
  t.same(await list.rows(), [])
  t.equal(await list.isSuppressed(), false)
})

t.test('a late report takes back the success that its own mail seemed to be', async (t) => {
  const list = await open(t)
  for (let n = 0; n < 3; n++) {
    t.equal(await list.isSuppressed(), false)
    const id = await list.land('delivered', null)
    await list.clock.advance(hour)
    await list.softly(id)
    await list.clock.advance(36 * hour)
  }
  t.equal(await list.isSuppressed(), true, 'no mail has got through')
})

t.test('addresses that were never mailed again are forgotten', async (t) => {
  const list = await open(t)
  await list.softly()
  const [row] = await list.rows()
  if (row === undefined) throw new Error('No row')
  await list.store.write((tx) =>
    tx
      .insertInto('soft_bounces')
      .values(Array.from({ length: 30 }, (_, n) => ({ ...row, address: `old${n}@x.test` })))
      .execute(),
  )
  await list.clock.advance(90 * day + 1)
  await list.softly()
  t.match(await list.rows(), [{ address }], 'and their rows with them')
})
