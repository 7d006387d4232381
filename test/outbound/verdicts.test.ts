import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { readTimeline } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { type Meter, silentMeter } from '../../src/metrics/index.js'
import { suppressionsOf } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { type OutboundRig, outboundRig, type RigOptions } from '../support/outbound.js'

const minute = 60_000

async function rigWith(t: Test, options: RigOptions) {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, ...options })
  return { clock, rig }
}

const attempts = (rig: OutboundRig, id: string, count: number) =>
  rig.until(id, ({ recipients }) => recipients[0]?.attempts === count)

/** The details of a mail's last event, and whether its recipient is suppressed. */
async function effects(rig: OutboundRig, id: string, address = 'a@one.test') {
  const last = (await readTimeline(rig.store.read, rig.accountId, id)).at(-1)
  const records = await suppressionsOf(rig.store.read, rig.accountId, address)
  return { type: last?.type, detail: last?.detail, suppressed: records.length > 0 }
}

t.test('a dead mailbox bounces for good and is suppressed with its reply', async (t) => {
  const told: object[] = []
  const log = { ...silentLog, warn: (fields: object) => told.push(fields) }
  const counted: unknown[] = []
  const count: Meter['count'] = (name, labels) => {
    if (name === 'posthorn_refusals_total') counted.push(labels)
  }
  const meter: Meter = { ...silentMeter, count }
  const { rig } = await rigWith(t, { log, meter, script: { rcpt: '550 5.1.1 no such user' } })
  const id = await rig.send({ to: 'A@one.test' })
  await rig.becomes(id, 'bounced')
  t.match(await effects(rig, id), {
    type: 'bounced',
    detail: {
      bounceType: 'Permanent',
      bounceClass: 'bad-mailbox',
      rule: 'text "unknown user" of config/bounce-rules.toml',
      suppress: 'now',
    },
    suppressed: true,
  })
  // What is told follows the commit.
  await rig.stop()
  t.match(told, [{ to: 'A@one.test', means: 'bad-mailbox', rule: /unknown user/ }])
  t.same(counted, [{ means: 'bad-mailbox' }])
  t.match(await suppressionsOf(rig.store.read, rig.accountId, 'a@one.test'), [
    { reason: 'bounce', emailId: id, detail: '550 5.1.1 no such user', expiresAt: null },
  ])
})

t.test('a reply in the charset of its country is shown and judged in words', async (t) => {
  for (const [bytes, text] of [
    ['cad5bcfec8cbb2bbb4e6d4da', '收件人不存在'],
    ['cfeef7f2eee2fbe920fff9e8ea20ede520f1f3f9e5f1f2e2f3e5f2', 'Почтовый ящик не существует'],
    ['eec5d420d4c1cbcfc7cf20d0cfccd8dacfd7c1d4c5ccd1', 'Нет такого пользователя'],
    ['a8cfa5ceaacca4a3a673a662', '使用者不存在'],
    ['8386815b8355815b82aa91b68ddd82b582dc82b982f1', 'ユーザーが存在しません'],
  ] as const) {
    const raw = Buffer.concat([Buffer.from('550 '), Buffer.from(bytes, 'hex'), Buffer.from('\r\n')])
    const { rig } = await rigWith(t, { script: { rcpt: { raw } } })
    const id = await rig.send({ to: 'a@one.test' })
    await rig.becomes(id, 'bounced')
    t.match(await effects(rig, id), { detail: { bounceClass: 'bad-mailbox' }, suppressed: true })
    const [record] = await suppressionsOf(rig.store.read, rig.accountId, 'a@one.test')
    t.equal(record?.detail, `550 ${text}`)
  }
})

t.test('a refusal that says nothing about the mailbox suppresses nobody', async (t) => {
  for (const [reply, bounceClass] of [
    ['550 no', 'unknown'],
    ['554 5.7.1 message looks like spam', 'content'],
    ['550 5.7.26 sender is unauthenticated', 'sender-authentication'],
  ] as const) {
    const { rig } = await rigWith(t, { script: { rcpt: reply } })
    const id = await rig.send({ to: 'a@one.test' })
    await rig.becomes(id, 'bounced')
    t.match(await effects(rig, id), {
      detail: { bounceType: 'Transient', bounceClass, suppress: undefined },
      suppressed: false,
    })
    await rig.stop()
  }
})

t.test("'user unknown' that is not said of the recipient suppresses nobody at once", async (t) => {
  for (const [script, bounceClass, suppress] of [
    [{ mail: '550 user unknown' }, 'sender-authentication', undefined],
    // RFC 5321 §3.3: after the message it may be what the recipient's own filter says.
    [{ dot: '550 user unknown' }, 'bad-mailbox', 'repeated'],
  ] as const) {
    const { rig } = await rigWith(t, { script })
    const id = await rig.send({ to: 'a@one.test' })
    await rig.becomes(id, 'bounced')
    t.match(await effects(rig, id), {
      detail: { bounceType: 'Transient', bounceClass, suppress },
      suppressed: false,
    })
    await rig.stop()
  }
  const { rig } = await rigWith(t, { script: { dot: '550 5.1.1 no such user' } })
  const id = await rig.send({ to: 'a@one.test' })
  await rig.becomes(id, 'bounced')
  t.match(await effects(rig, id), { suppressed: true }, 'a status says it plainly')
})

t.test(
  'a domain that takes no mail at all is suppressed, without a server saying so',
  async (t) => {
    const dns = { 'one.test': { mx: [{ preference: 0, exchange: '' }] } }
    const { rig } = await rigWith(t, { dns })
    const id = await rig.send({ to: 'a@one.test' })
    await rig.becomes(id, 'bounced')
    t.match(await effects(rig, id), {
      detail: { bounceClass: 'bad-domain', rule: 'what Posthorn itself found' },
      suppressed: true,
    })
  },
)

t.test('a fault of the protocol is tried once more, then it failed', async (t) => {
  const { rig, clock } = await rigWith(t, { script: { rcpt: '503 5.5.1 out of order' } })
  const id = await rig.send({ to: 'a@one.test' })
  const email = await attempts(rig, id, 1)
  t.match(email, { status: 'sent', recipients: [{ status: 'deferred', reply: /^503 / }] })
  t.same((await effects(rig, id)).detail, {
    bounceClass: 'protocol',
    rule: 'status 5.5.x of config/bounce-rules.toml',
  })
  await clock.advance(6 * minute)
  await rig.becomes(id, 'failed')
  t.match(await effects(rig, id), { type: 'failed', suppressed: false })
  const again = await rig.send({ to: 'b@one.test' })
  await attempts(rig, again, 1)
  rig.mx.change({ rcpt: '250 ok' })
  await clock.advance(6 * minute)
  await rig.becomes(again, 'delivered')
})

t.test('who blocks us is asked three times', async (t) => {
  const { rig, clock } = await rigWith(t, {
    script: { rcpt: '554 5.7.1 your address is on our blocklist' },
  })
  const id = await rig.send({ to: 'a@one.test' })
  for (let count = 1; count < 3; count++) {
    t.match(await attempts(rig, id, count), { status: 'sent' })
    await clock.advance((count === 1 ? 6 : 11) * minute)
  }
  const { recipients } = await rig.becomes(id, 'bounced')
  t.match(recipients, [{ attempts: 3, reply: /^554 / }])
  t.match(await effects(rig, id), { detail: { bounceClass: 'blocked' }, suppressed: false })
})

t.test('who gets too much gets it an hour later, whatever the code', async (t) => {
  const words = 'The user you are trying to contact is receiving mail at a rate that prevents'
  for (const reply of [`450 4.2.1 ${words}`, `550 5.2.1 ${words}`]) {
    const { rig, clock } = await rigWith(t, { script: { rcpt: reply } })
    const id = await rig.send({ to: 'a@one.test' })
    const { recipients } = await attempts(rig, id, 1)
    const dueAt = Date.parse(recipients[0]?.nextAttemptAt ?? '')
    t.equal(dueAt - clock.now(), 60 * minute, reply)
    rig.mx.change({ rcpt: '250 ok' })
    await clock.advance(60 * minute)
    await rig.becomes(id, 'delivered')
    await rig.stop()
  }
})

t.test('what was put off until it expired counts against its address, no more', async (t) => {
  const { retry } = loadConfig({ env: {} }).outbound
  const transactional = { ...retry.transactional, maxAge: 10 * minute }
  const config = { retry: { ...retry, transactional } }
  const { rig, clock } = await rigWith(t, { config, script: { rcpt: '450 4.1.1 not now' } })
  const id = await rig.send({ to: 'a@one.test' })
  await attempts(rig, id, 1)
  await clock.advance(5 * minute)
  const { recipients } = await rig.until(id, ({ status }) => status === 'failed')
  t.match(recipients, [{ reply: /^Given up after 2 attempts\. The last one: 450 / }])
  t.match(await effects(rig, id), {
    type: 'failed',
    detail: { bounceType: 'Transient', bounceClass: 'bad-mailbox', suppress: 'repeated' },
    suppressed: false,
  })
  t.match(await rig.store.read.selectFrom('soft_bounces').selectAll().execute(), [
    { address: 'a@one.test', failures: 1 },
  ])
})
