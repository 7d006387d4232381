// Thorough: a whole appliance, until an account is paused and cleared.
// 800 mails, 12 % of the first 300 bouncing, so that the rest calls for no second pause: the account is paused, its operator
// told, then it is cleared.
import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import type { MailEvent } from '../../src/events/index.js'
import { alarmOf, readAudit } from '../../src/protection/index.js'
import { jsonOf } from '../cli/run.js'
import { eventually } from '../support/eventually.js'
import { fakeMx } from '../support/fake-mx.js'
import { startPosthorn } from '../support/posthorn.js'

const mails = 800
const recipients = Array.from({ length: mails }, (_, i) => {
  const bounces = i < 300 && Math.floor(((i + 1) * 12) / 100) > Math.floor((i * 12) / 100)
  return `${bounces ? 'bounced' : 'delivered'}+${i}@simulator.posthorn.test`
})
const operator = 'ops@operator.test'

t.test('an account that bounces is paused, and goes on when it is cleared', async (t) => {
  // Takes the operator's mail alone: the recipients are the simulator's.
  const mx = await fakeMx(t)
  const posthorn = await startPosthorn(t, {
    env: {
      POSTHORN_OUTBOUND_ROUTE: 'direct',
      POSTHORN_OUTBOUND_PORT: String(mx.port),
      POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true',
      POSTHORN_OUTBOUND_THREADS: '2',
      POSTHORN_OUTBOUND_WARM_UP: 'off',
      POSTHORN_PROTECTION_COUNT_SIMULATOR: 'true',
      POSTHORN_OPERATOR_NOTIFY: operator,
    },
    dns: {
      '*': { mx: [{ preference: 10, exchange: 'mx.test' }] },
      'mx.test': { a: ['127.0.0.1'] },
    },
  })
  const { read } = posthorn.store
  const mail = { from: 'shop@sender.test', subject: 'Hi', html: '<p>Hi</p>' }
  for (let from = 0; from < mails; from += 100) {
    const emails = recipients.slice(from, from + 100).map((to) => ({ ...mail, to }))
    t.equal((await posthorn.call('POST', '/v1/emails/batch', { body: { emails } })).status, 200)
  }

  // The mail to the operator leaves, after a minute, although the account may send nothing.
  const [notice] = await mx.waitForMessages(1, 120_000)
  t.same(notice?.to, [operator])
  t.match(String(notice?.raw), /^Subject: \[.+\] BURNS: "Test" is paused: too many bounces/m)
  t.match(String(notice?.raw), / d=sender\.test;/)

  const refused = await posthorn.send({ ...mail, to: 'delivered@simulator.posthorn.test' })
  t.match(refused, { status: 503, json: { code: 'account_paused', reason: 'bounce' } })
  const body = { emails: [{ ...mail, to: 'delivered@simulator.posthorn.test' }] }
  const batch = await posthorn.call('POST', '/v1/emails/batch', { body })
  t.match(batch, { status: 503, json: { code: 'account_paused', reason: 'bounce' } })

  // What was under way when the pause fell still ends.
  const underWay = () => read.selectFrom('queue').select('id').where('lease', 'is not', null)
  await eventually(async () => (await underWay().execute()).length === 0, 30_000)
  const [paused, ...others] = await readAudit(read, { accountId: posthorn.accountId, limit: 9 })
  t.match(paused, { action: 'paused', reason: 'bounce', who: 'protection' })
  t.same(others, [], 'one change alone')
  const events = await read
    .selectFrom('events')
    .select(['type', 'account_id'])
    .where('type', 'in', ['delivered', 'bounced'])
    .where('account_id', '=', posthorn.accountId)
    .orderBy('id')
    .execute()
  t.same(paused?.totals, firstPause(events), 'at the event that passed the threshold')
  const waiting = await read.selectFrom('queue').selectAll().execute()
  // It takes 200 to call for a pause. What is under way then ends, over PostgreSQL some hundred more than over SQLite; what
  // was only claimed does not leave.
  t.ok(waiting.length > 100 && waiting.length < mails - 200, `${waiting.length} of ${mails} wait`)
  t.ok(
    waiting.every(({ lease }) => lease === null),
    'none is under way',
  )
  t.equal(events.length, mails - waiting.length, 'the others were tried')

  const env = { POSTHORN_DATA: posthorn.dataDir }
  const cleared = await jsonOf(t, ['account', 'unpause', 'Test', '--note', 'list cleaned'], { env })
  t.match(cleared, { paused: null, totals: { recipients: 0 } })
  // Taken again at once; its ring spares the test the half minute after which the others are seen.
  const again = await posthorn.send({ ...mail, to: 'delivered+last@simulator.posthorn.test' })
  t.equal(again.status, 200)
  await posthorn.until(again.json.id, ({ status }) => status === 'delivered')
  const ended = () =>
    read
      .selectFrom('deliveries')
      .select(['recipient', 'status'])
      .where('recipient', 'in', recipients)
      .orderBy('recipient')
      .execute()
  await eventually(async () => (await ended()).length === mails, 30_000)
  t.same(
    await ended(),
    recipients.toSorted().map((recipient) => ({ recipient, status: recipient.split('+')[0] })),
  )
  const audit = await jsonOf(t, ['account', 'audit', 'Test'], { env })
  t.match(audit, [
    { action: 'cleared', note: 'list cleaned', totals: { recipients: events.length } },
    { action: 'paused', who: 'protection' },
  ])
})

/** What had been counted when the log first called for a pause. */
function firstPause(events: readonly Pick<MailEvent, 'type'>[]) {
  const { protection } = loadConfig({ env: {} })
  const totals = { recipients: 0, bounces: 0, complaints: 0 }
  const marketing = { marketing_recipients: 0, marketing_bounces: 0, marketing_complaints: 0 }
  for (const { type } of events) {
    totals.recipients++
    if (type === 'bounced') totals.bounces++
    if (alarmOf({ ...totals, ...marketing }, 'bounce', protection) === 'pause') break
  }
  return { ...totals, ...marketing, unproved: 0 }
}
