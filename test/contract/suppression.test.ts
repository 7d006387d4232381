// interface.md: Suppression, status `suppressed`; decisions.md: suppressed recipients.
import t from 'tap'
import { readUsage } from '../../src/billing/index.js'
import { lift, suppress } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
const block = (email: string, reason: 'bounce' | 'complaint' | 'unsubscribe' | 'manual') =>
  posthorn.store.write((tx) => suppress(tx, posthorn.accountId, { email, reason }, Date.now()))

t.test('who bounced or complained gets nothing; the others do', async (t) => {
  await block('gone@example.com', 'bounce')
  await block('angry@example.com', 'complaint')
  const { json } = await posthorn.send({
    ...good,
    to: ['Gone@Example.com', 'ok@example.com', 'angry@example.com'],
  })
  const email = await posthorn.until(json.id, (e) => e.status === 'delivered')
  t.same(email.recipients.map((r) => [r.email, r.status, r.attempts]).sort(), [
    ['Gone@example.com', 'suppressed', 0],
    ['angry@example.com', 'suppressed', 0],
    ['ok@example.com', 'delivered', 1],
  ])
})

t.test('all of them suppressed: stored as `suppressed`, 200 as usual, no quota used', async (t) => {
  await block('only@example.com', 'bounce')
  const used = async () =>
    (await readUsage(posthorn.store.read, posthorn.accountId, Date.now())).monthMails
  const before = await used()
  const { status, json } = await posthorn.send({ ...good, to: 'only@example.com' })
  t.equal(status, 200)
  t.match(await posthorn.email(json.id), {
    status: 'suppressed',
    sentAt: null,
    recipients: [{ status: 'suppressed' }],
  })
  t.equal(await used(), before)
})

t.test('an unsubscribe never blocks transactional mail', async (_t) => {
  await block('quiet@example.com', 'unsubscribe')
  const { json } = await posthorn.send({ ...good, to: 'quiet@example.com' })
  await posthorn.until(json.id, (e) => e.status === 'delivered')
})

t.test("suppression is the account's own, and can be lifted", async (_t) => {
  await block('back@example.com', 'manual')
  await posthorn.store.write((tx) =>
    lift(tx, posthorn.accountId, 'BACK@example.com', { by: 'operator', at: 1 }),
  )
  const { json } = await posthorn.send({ ...good, to: 'back@example.com' })
  await posthorn.until(json.id, (e) => e.status === 'delivered')
})

t.test('it is honoured again at departure', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  const scheduledAt = new Date(clock.now() + 60_000).toISOString()
  const all = await rig.send({ to: 'a@one.test', scheduledAt })
  const some = await rig.send({ to: ['a@one.test', 'b@one.test'], scheduledAt })
  await rig.store.write((tx) =>
    suppress(tx, rig.accountId, { email: 'a@one.test', reason: 'complaint' }, clock.now()),
  )
  await clock.advance(60_000)
  t.match(await rig.becomes(all, 'suppressed'), {
    sentAt: null,
    recipients: [{ status: 'suppressed', attempts: 0 }],
  })
  await rig.becomes(some, 'delivered')
  t.same(
    rig.mx.messages.map((m) => m.to),
    [['b@one.test']],
  )
})
