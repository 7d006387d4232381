import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { readEmail } from '../../src/emails/index.js'
import { enterNext } from '../../src/emails/recipient-index.js'
import { dayMs, delay, openEngine, send, trigger } from '../support/automation-rig.js'
import { day, openMailLog } from '../support/mail-log.js'

t.test('a mail goes with all that hangs on it when its plan no longer keeps it', async (t) => {
  const log = await openMailLog(t, { plan: 'Free' })
  const { clock, store, accountId } = log
  const tags = [{ name: 'plan', value: 'pro' }]
  const [id = ''] = await log.accept([
    { tags, to: ['a@one.test', 'b@two.test'], files: [Buffer.alloc(3_000_000, 'x')] },
  ])
  await log.deliver()
  await log.accept([{ html: 'newest' }])
  await clock.advance(2 * 60_000)
  await enterNext({ store, clock })
  t.equal(await log.rows('recipient_entries'), 3)
  await clock.advance(7 * day - 2 * 60_000)
  await log.run()
  t.equal((await log.mails()).length, 2, 'as long as it is kept')
  await clock.advance(1)
  const { summary } = await log.run()
  t.match(summary, 'Deleted 1 mails')
  await t.rejects(readEmail(store.read, accountId, id), { code: 'not_found' })
  t.equal(await log.rows('deliveries'), 0)
  t.equal(await log.rows('email_tags'), 0)
  t.equal(await log.rows('recipient_entries'), 1, 'that of the other mail')
  t.equal(await log.rows('bodies'), 1)
  t.equal(await log.rows('body_uses'), 1)
  t.equal(await log.rows('contents'), 0)
  t.equal(await log.rows('content_pieces'), 0)
})

t.test('nothing goes of a mail that waits, is held, is leased or scheduled', async (t) => {
  const log = await openMailLog(t, { plan: 'Free' })
  const { clock, store } = log
  const far = clock.now() + 80 * day
  const [scheduled = '', deferred = '', leased = '', held = '', half = ''] = [
    ...(await log.accept([{ html: 'scheduled', scheduledAt: far, to: ['s@one.test'] }])),
    ...(await log.accept([{ html: 'deferred', to: ['d@one.test'] }])),
    ...(await log.accept([{ html: 'leased', to: ['l@one.test'] }])),
    ...(await log.accept([{ html: 'held', to: ['h@one.test'] }])),
    ...(await log.accept([{ html: 'half', to: ['x@one.test', 'd2@one.test'] }])),
  ]
  await log.accept([{ html: 'newest' }])
  const stopped = { due_at: far, held_at: 1, held_reason: 'x', held_due_at: 1 }
  await store.write((tx) =>
    tx.updateTable('queue').set(stopped).where('recipient', '=', 'h@one.test').execute(),
  )
  await store.write((tx) =>
    tx
      .updateTable('queue')
      .set({ lease: 4, due_at: far })
      .where('recipient', '=', 'l@one.test')
      .execute(),
  )
  await log.deliver((to) => (to.startsWith('d') ? 'deferred' : 'delivered'))
  await clock.advance(60 * day)
  await log.run()
  const kept = await log.mails()
  for (const id of [scheduled, deferred, leased, held, half]) t.ok(kept.includes(id))
  t.equal(await log.rows('bodies'), 6)
  t.equal(await log.rows('retention_waiting'), 10, 'they are looked at again')
  // The one that was deferred ends now: its log is kept from then on, its body was due long ago.
  await log.deliver()
  await log.run()
  const bodyOf = async (id: string) =>
    (
      await store.read
        .selectFrom('emails')
        .select('body_id')
        .where('id', '=', id)
        .executeTakeFirst()
    )?.body_id
  t.equal(await bodyOf(deferred), null)
  t.equal(await bodyOf(half), null)
  t.type(await bodyOf(scheduled), 'number')
  t.type(await bodyOf(held), 'number')
  t.equal(await log.rows('retention_waiting'), 6)
  for (const ms of [7 * day, 1]) {
    await clock.advance(ms)
    await log.run()
  }
  const left = await log.mails()
  t.notOk(left.includes(deferred))
  t.ok(left.includes(scheduled) && left.includes(held) && left.includes(leased))
})

t.test('each account keeps its mails as long as its plan says', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { clock } = log
  await log.accept([{ to: ['a@one.test'] }])
  await log.deliver()
  await clock.advance(1)
  await log.accept([{ html: 'newest' }])
  await clock.advance(90 * day)
  for (let n = 0; n < 2; n++) await log.run()
  t.equal((await log.mails()).length, 1)
})

t.test('what the figures have not counted stays', async (t) => {
  const log = await openMailLog(t, { plan: 'Free' })
  const { clock, store, retention } = log
  const [id = ''] = await log.accept([{}])
  await log.accept([{ html: 'newest' }])
  await log.deliver()
  await log.countBodies()
  await clock.advance(30 * day)
  const { runRetention } = await import('../../src/retention/index.js')
  await runRetention(retention, new AbortController().signal)
  t.ok((await log.mails()).includes(id), 'no figure has it yet')
  await log.rollUp()
  const opened = { accountId: log.accountId, emailId: id, deliveryId: null, recipient: null }
  await store.write((tx) =>
    log.land(tx, [
      { ...opened, class: 0, type: 'opened', at: clock.now(), reply: null, detail: null },
    ]),
  )
  await runRetention(retention, new AbortController().signal)
  t.ok((await log.mails()).includes(id), 'nor of what happened to it last')
  await log.run()
  t.notOk((await log.mails()).includes(id))
})

t.test(
  'a mail stays that a live run may ask about, whatever letters its address has',
  async (t) => {
    const log = await openMailLog(t, { plan: 'Free' })
    const { clock, store } = log
    const { id: accountId } = await createAccount({ store, clock }, 'Library')
    const rig = await openEngine(t, { clock, store, accountId })
    await log.usePlan('Free', accountId)
    await rig.enabled([trigger(), send('one'), delay('pause', 'P30D')])
    const emails = ['Ann@one.test', 'Ärger@one.test', 'ΩMEGA@one.test']
    for (const email of emails) await rig.start({ email })
    await rig.work()
    await log.deliver()
    await log.accept([{ html: 'newest' }])
    await clock.advance(10 * dayMs)
    await log.run()
    t.equal((await log.mails()).length, 1 + emails.length)
    await clock.advance(20 * dayMs)
    await rig.work()
    await log.run()
    t.equal((await log.mails()).length, 1, 'their runs have ended')
  },
)
