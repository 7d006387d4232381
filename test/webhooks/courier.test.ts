import { execFileSync } from 'node:child_process'
import t from 'tap'
import { setPlan } from '../../src/billing/index.js'
import { silentLog } from '../../src/log/index.js'
import { type DutyName, dutyNames, holdsPart, othersThan } from '../../src/nodes/index.js'
import { makeTurns, noteOthers } from '../../src/store/index.js'
import { mostAsideBytes } from '../../src/webhooks/enqueue.js'
import {
  announceDisabled,
  countNotArrived,
  deleteEndpoint,
  findEndpoint,
  forgetDeliveries,
  listEndpoints,
  replay,
  rotateSecret,
  updateEndpoint,
} from '../../src/webhooks/index.js'
import { setAside } from '../../src/webhooks/settle.js'
import { FakeClock } from '../support/clock.js'
import { eventually } from '../support/eventually.js'
import { poison } from '../support/poison.js'
import { aboutSqlite } from '../support/postgres.js'
import { openReceiver } from '../support/receiver.js'
import { openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'
import { key, plans, webhookRig } from '../support/webhooks.js'

const certificates = await testCertificates(t, 'hooks.shop.test')
const ca = certificates.ca.cert

/** The digest as `openssl` computes it: it shares nothing with what signed. */
function openssl(secret: string, signed: string): string {
  const args = ['dgst', '-sha256', '-hmac', secret, '-hex']
  return (
    /([0-9a-f]{64})/.exec(execFileSync('openssl', args, { input: signed }).toString())?.[1] ?? ''
  )
}

t.test('each event arrives over TLS as the contract has it, signed for openssl', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await openReceiver(t, { certificate: certificates.valid })
  const { secret } = await rig.endpoint(receiver.url)
  const id = await rig.mail(['Ann <a@one.test>', 'b@two.test'])
  await rig.land(id, 'sent', { recipient: null, deliveryId: null })
  await rig.land(id, 'deferred')
  await rig.land(id, 'delivered')
  await rig.land(id, 'bounced', { recipient: 'b@two.test', detail: { bounceType: 'Transient' } })
  await rig.land(id, 'complained')
  await rig.land(id, 'opened')
  await rig.land(id, 'unsubscribed')
  await rig.courier({ ca })
  await receiver.until((received) => received.length === 5)
  const of = { emailId: id, subject: 'Order “7”', domainId: rig.domain.id, domain: 'shop.test' }
  const messageId = `<${id}@shop.test>`
  const told = (status: string, to: string[], more: object = {}) => ({
    ...of,
    event: `email.${status}`,
    status,
    to,
    ...more,
  })
  t.same(
    receiver.received.map(({ json: { timestamp: _, ...rest } }) => rest),
    [
      told('sent', ['a@one.test', 'b@two.test'], { messageId }),
      told('delivered', ['a@one.test'], { messageId }),
      told('bounced', ['b@two.test'], { messageId, bounceReason: 'Transient' }),
      told('complained', ['a@one.test'], { messageId }),
      told('opened', ['a@one.test']),
    ],
    'in their order, and no others',
  )
  for (const { headers, body, json } of receiver.received) {
    const [, at = '', digest] =
      /^t=(\d{10}),v1=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? []
    t.equal(digest, openssl(secret, `${at}.${body}`))
    t.ok(Math.abs(Number(at) - Date.now() / 1_000) < 60)
    t.match(json.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.match(headers, { 'content-type': 'application/json', 'user-agent': 'Posthorn' })
  }
})

t.test('five attempts after 5, 10, 20 and 40 s, the same bytes, then it is kept', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const receiver = await openReceiver(t, {
    script: (_got, response) => {
      response.writeHead(500).end('x'.repeat(100_000))
      return undefined
    },
  })
  const endpoint = await rig.endpoint(receiver.url)
  const started = clock.now()
  await rig.land(await rig.mail(), 'delivered')
  const times: number[] = []
  receiver.script = (_got, response) => {
    times.push(clock.now() - started)
    response.writeHead(500).end('x'.repeat(100_000))
    return undefined
  }
  await rig.courier()
  // Steps of a tick, with time for the sockets between them.
  const move = async (isSo: () => Promise<boolean> | boolean) => {
    while (!(await isSo())) {
      await clock.advance(100)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  await move(async () => (await rig.deliveries(endpoint.id))[0]?.attempts === 2)
  const [waiting] = await rig.deliveries(endpoint.id)
  t.match(waiting, { outcome: 'waiting', status: 500, error: 'HTTP 500', triedAt: Number })
  t.equal(waiting?.response, 'x'.repeat(4_096), 'who mends it sees what it answers')
  await move(async () => (await rig.deliveries(endpoint.id))[0]?.outcome === 'failed')
  const about = [0, 5_000, 15_000, 35_000, 75_000]
  t.equal(times.length, 5)
  for (const [i, at] of about.entries()) {
    t.ok(Math.abs((times[i] ?? 0) - at) < 2_000, `attempt ${i + 1}: ${times[i]} ms, about ${at}`)
  }
  t.equal(new Set(receiver.received.map(({ body }) => body)).size, 1, 'the bytes never change')
  const signedAt = receiver.received.map(({ headers }) =>
    Number(/t=(\d+)/.exec(String(headers['svc-signature']))?.[1]),
  )
  t.same(
    signedAt,
    times.map((at) => Math.floor((started + at) / 1_000)),
    'each is signed afresh',
  )
  const [kept] = await rig.deliveries(endpoint.id)
  t.match(kept, { outcome: 'failed', attempts: 5, status: 500, error: 'HTTP 500' })
  t.equal(kept?.response, 'x'.repeat(4_096), 'of the answer, its beginning')

  receiver.script = () => 204
  t.equal(
    await replay(
      { store: rig.store, now: () => clock.now() },
      rig.accountId,
      endpoint.id,
      'failed',
    ),
    1,
  )
  await move(async () => (await rig.deliveries(endpoint.id))[0]?.outcome === 'delivered')
  t.equal(receiver.received[5]?.body, receiver.received[0]?.body, 'a replay is the same again')
  t.equal((await findEndpoint(rig.store.read, rig.accountId, endpoint.id)).failures, 0)
})

t.test('a receiver that misbehaves is told of in the log, and nothing else happens', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const inner = await openReceiver(t)
  const receiver = await openReceiver(t, { certificate: certificates.valid })
  const endpoint = await rig.endpoint(receiver.url)
  await rig.courier({ ca })
  const first = async (script: typeof receiver.script) => {
    receiver.script = script
    const seen = receiver.received.length
    await rig.land(await rig.mail(), 'delivered')
    const came = receiver.received.length
    t.equal(came, seen)
    for (;;) {
      await clock.advance(100)
      await new Promise((resolve) => setTimeout(resolve, 1))
      const [latest] = await rig.deliveries(endpoint.id)
      const ended = latest?.outcome !== 'waiting'
      if (receiver.received.length > seen && (ended || latest.attempts > 0)) return latest
    }
  }
  const attempts = await first((_got, response) => {
    response.writeHead(200)
    response.write('slow')
    return undefined
  })
  t.match(attempts, { outcome: 'delivered', status: 200, response: 'slow' }, 'its word counts')

  const drain = async () => {
    receiver.script = () => 200
    const left = async () =>
      (await rig.deliveries(endpoint.id)).some((one) => one.outcome === 'waiting')
    while (await left()) {
      await clock.advance(500)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  for (const [name, cause, script] of [
    ['hangs', 'timeout', () => undefined],
    ['resets', 'closed', (_got, response) => void response.socket?.resetAndDestroy()],
    [
      'redirects',
      null,
      (_got, response) => void response.writeHead(302, { location: inner.url }).end(),
    ],
  ] as [string, string | null, typeof receiver.script][]) {
    t.match(await first(script), { outcome: 'waiting', attempts: 1, error: String, cause }, name)
    await drain()
  }
  t.equal(inner.received.length, 0, 'no redirect was followed')
})

t.test('a certificate that does not fit is no receiver', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await openReceiver(t, { certificate: certificates.selfSigned })
  const endpoint = await rig.endpoint(receiver.url)
  await rig.land(await rig.mail(), 'delivered')
  await rig.courier({ ca })
  for (;;) {
    const [waiting] = await rig.deliveries(endpoint.id)
    if (waiting?.attempts === 1) {
      t.equal(waiting.cause, 'certificate')
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.equal(receiver.received.length, 0)
})

t.test('dead and slow endpoints hold up nobody; those of one mail keep their order', async (t) => {
  const rig = await webhookRig(t)
  const healthy = await openReceiver(t)
  const dead = await openReceiver(t, { script: () => undefined })
  await rig.endpoint(dead.url)
  const { id } = await rig.endpoint(healthy.url)
  const failedOnce = new Set<string>()
  healthy.script = ({ json }) => {
    if (json.event !== 'email.sent' || failedOnce.size > 0) return 200
    failedOnce.add(json.emailId)
    return 503
  }
  const mails = await Promise.all(Array.from({ length: 60 }, () => rig.mail()))
  for (const mail of mails) {
    await rig.land(mail, 'sent', { recipient: null })
    await rig.land(mail, 'delivered')
  }
  await rig.courier()
  const ended = await rig.logged(id, 119 + 1)
  t.equal(ended.length, 120)
  t.ok(dead.most <= 10, `${dead.most} connections at most`)
  for (const mail of mails) {
    const events = healthy.received.filter(({ json }) => json.emailId === mail)
    const names = events.map(({ json }) => json.event)
    const sent = failedOnce.has(mail) ? ['email.sent', 'email.sent'] : ['email.sent']
    t.same(names, [...sent, 'email.delivered'])
  }
  t.ok(new Set(healthy.received.map(({ port }) => port)).size < 40, 'connections are used again')
})

t.test('of several nodes each sends for its endpoints, and what moves goes on there', async (t) => {
  const turns = makeTurns()
  const store = await openTestStore(t, { turns })
  const rig = await webhookRig(t, { store })
  const [atOne, atTwo] = [await openReceiver(t), await openReceiver(t)]
  const partOf = (id: string) => {
    const has = (name: DutyName) => ({ isOthers: (at: number) => dutyNames[at] !== name })
    const found = dutyNames.find((name) => holdsPart(has(name), 'courier', id))
    if (found === undefined) throw new Error('It is in no part')
    return found
  }
  const one = await rig.endpoint(atOne.url)
  let two = await rig.endpoint(atTwo.url)
  // One that is in the same part is of no use.
  while (partOf(two.id) === partOf(one.id)) {
    await deleteEndpoint({ store, clock: rig.clock }, rig.accountId, two.id)
    two = await rig.endpoint(atTwo.url)
  }
  const waiting = async (id: string) =>
    (await rig.deliveries(id)).filter(({ outcome }) => outcome === 'waiting').length
  noteOthers(turns, othersThan([partOf(one.id)]))
  const courier = await rig.courier()
  const mail = await rig.mail()
  await rig.land(mail, 'sent')
  await rig.logged(one.id, 1)
  t.equal(await waiting(two.id), 1, 'what is another node’s stays')
  t.equal(atTwo.received.length, 0)

  noteOthers(turns, othersThan([partOf(one.id), partOf(two.id)]))
  await rig.land(mail, 'delivered')
  await rig.logged(two.id, 2)
  await rig.logged(one.id, 2)
  t.same(
    atTwo.received.map(({ json }) => json.event),
    ['email.sent', 'email.delivered'],
    'what waited, in its order',
  )

  // One is under way while its part goes: the other node may have it once that is over.
  let answer = () => {}
  atOne.script = () =>
    new Promise((resolve) => {
      answer = () => resolve(200)
    })
  await rig.land(await rig.mail(), 'sent')
  await eventually(async () => atOne.received.length === 3, 10_000)
  noteOthers(turns, othersThan([partOf(two.id)]))
  let hasLetGo = false
  const letting = courier.letGo().then(() => {
    hasLetGo = true
  })
  await rig.logged(two.id, 3)
  t.notOk(hasLetGo)
  answer()
  await letting
  await rig.logged(one.id, 3)
  await rig.land(await rig.mail(), 'sent')
  await rig.logged(two.id, 4)
  t.equal(await waiting(one.id), 1, 'nothing more of it is sent here')
  t.same([atOne.received.length, atTwo.received.length], [3, 4], 'each once')
})

t.test('a lane that empties while its jobs are read passes over none', async (t) => {
  const rig = await webhookRig(t)
  const { store } = rig
  const waiting = async () => {
    const rows = store.read.selectFrom('webhook_jobs').select(({ fn }) => fn.countAll().as('all'))
    return Number((await rows.executeTakeFirstOrThrow()).all)
  }
  // Memory holds 500 jobs. The receiver answers 250 and then nothing until the courier reads on, for 250 more.
  let goOn = () => {}
  const hasReadOn = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const receiver = await openReceiver(t, {
    script: async (_got, _response, count) => {
      if (count > 250) await hasReadOn
      return 200
    },
  })
  const { id } = await rig.endpoint(receiver.url)
  const mails = await Promise.all(Array.from({ length: 780 }, () => rig.mail()))
  await Promise.all(mails.map((mail) => rig.land(mail, 'delivered')))
  let reads = 0
  const slowRead = store.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const isRead = result.rows.length > 1 && result.rows[0]?.endpoint_id === id
      if (!isRead || ++reads !== 2) return result
      // While the query runs, some of what memory holds is answered and makes room.
      const before = await waiting()
      goOn()
      while ((await waiting()) > before - 20) await new Promise((resolve) => setTimeout(resolve, 5))
      return result
    },
  })
  await rig.courier({ store: { ...store, read: slowRead } })
  t.equal((await rig.logged(id, 780)).length, 780)
  t.equal(new Set(receiver.received.map(({ json }) => json.emailId)).size, 780)
  t.equal(receiver.received.length, 780, 'each once')
})

t.test('a replay ends, and counts each once, while its endpoint is disabled again', async (t) => {
  const rig = await webhookRig(t)
  const { store, accountId } = rig
  const { id } = await rig.endpoint('https://hooks.shop.test/')
  const mail = await rig.mail()
  const aside = () =>
    store.write((tx) => setAside(tx, id, { now: 0, why: 'Disabled', cause: 'disabled' }))
  for (let i = 0; i < 210; i++) await rig.land(mail, 'delivered')
  while ((await aside()) > 0);
  let writes = 0
  const disabling: typeof store = {
    ...store,
    write: async (work) => {
      if (++writes > 9) throw new Error('It goes on and on')
      const result = await store.write(work)
      await aside()
      return result
    },
  }
  const queued = await replay({ store: disabling, now: () => 0 }, accountId, id, 'failed')
  t.equal(queued, 210)
})

/** Moves the clock in steps of a tick, with time for the sockets between them, until it is so. */
async function move(clock: FakeClock, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await clock.advance(200)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

t.test('a receiver that is down for a minute of a campaign loses nothing', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const { store, accountId } = rig
  const receiver = await openReceiver(t, { script: () => 503 })
  const { id } = await rig.endpoint(receiver.url)
  for (let i = 0; i < 45; i++) await rig.land(await rig.mail(), 'delivered')
  await rig.courier()
  const log = () => rig.deliveries(id)
  await move(clock, async () => (await log()).every(({ outcome }) => outcome === 'failed'))
  const failing = await findEndpoint(store.read, accountId, id)
  t.match(failing, { enabled: true, failures: 45, failingSince: Number })
  receiver.script = () => 200
  await rig.land(await rig.mail(), 'delivered')
  await move(clock, async () => (await log()).some(({ outcome }) => outcome === 'delivered'))
  t.match(await findEndpoint(store.read, accountId, id), { failures: 0, failingSince: null })
  t.equal(await countNotArrived(store.read, id), 45)
  t.equal(await replay({ store, now: () => clock.now() }, accountId, id, 'failed'), 45)
  await move(clock, async () => (await log()).every(({ outcome }) => outcome === 'delivered'))
  t.equal((await log()).length, 46)
})

t.test('a day of failing with thirty events disables an endpoint; it is replayed', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const receiver = await openReceiver(t, { script: () => 410 })
  const { id } = await rig.endpoint(receiver.url)
  for (let i = 0; i < 35; i++) await rig.land(await rig.mail(), 'delivered')
  await rig.courier()
  const log = () => rig.deliveries(id)
  const endpoint = () => findEndpoint(rig.store.read, rig.accountId, id)
  await move(clock, async () => (await log()).every(({ outcome }) => outcome === 'failed'))
  t.match(await endpoint(), { enabled: true }, 'thirty events are not enough')
  clock.jump(86_400_000)
  for (let i = 0; i < 20; i++) await rig.land(await rig.mail(), 'delivered')
  await move(clock, async () => (await log()).every(({ outcome }) => outcome !== 'waiting'))
  t.match(await endpoint(), {
    enabled: false,
    disabledBecause: /^\d\d events in a row failed since 2026-11-21 12:0\d UTC.*HTTP 410/,
  })
  const outcomes = (await log()).map(({ outcome }) => outcome)
  t.ok(outcomes.includes('dropped'), 'what had not come so far is set aside')
  await rig.land(await rig.mail(), 'delivered')
  await move(clock, async () => (await log()).every(({ outcome }) => outcome !== 'waiting'))
  t.match((await log())[0], { outcome: 'dropped', attempts: 0 }, 'what comes then, too')
  t.equal((await log()).length, 56)

  const { store, accountId } = rig
  const again = () => replay({ store, now: () => clock.now() }, accountId, id, 'failed')
  await t.rejects(again(), { message: /The webhook endpoint is disabled/ })
  await updateEndpoint({ store, clock }, accountId, id, { enabled: true })
  receiver.script = () => 200
  t.equal(await again(), 56)
  await move(clock, async () => (await log()).every(({ outcome }) => outcome === 'delivered'))
  t.equal((await log()).length, 56)

  await forgetDeliveries(
    { store, plans, log: silentLog, now: clock.now() + 89 * 86_400_000 },
    AbortSignal.abort(),
  )
  const signal = new AbortController().signal
  await forgetDeliveries(
    { store, plans, log: silentLog, now: clock.now() + 89 * 86_400_000 },
    signal,
  )
  t.equal((await log()).length, 56, 'kept as long as the plan keeps its log')
  await forgetDeliveries(
    { store, plans, log: silentLog, now: clock.now() + 91 * 86_400_000 },
    signal,
  )
  t.equal((await log()).length, 0)
  await deleteEndpoint({ store, clock }, accountId, id)
  await t.rejects(findEndpoint(store.read, accountId, id), {
    message: /^The account has no webhook/,
  })
  await forgetDeliveries({ store, plans, log: silentLog, now: clock.now() }, signal)
  t.same(await store.read.selectFrom('webhook_endpoints').selectAll().execute(), [])
})

t.test('what comes for a disabled endpoint is bounded in bytes, and told', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const { store, accountId } = rig
  const { id } = await rig.endpoint('https://example.com/hook')
  await updateEndpoint({ store, clock }, accountId, id, { enabled: false })
  const mail = await rig.mail()
  await rig.land(mail, 'delivered')
  const [first] = await rig.deliveries(id)
  t.match(first, { outcome: 'waiting' }, 'until the courier sees it')
  const bytes = Buffer.byteLength(first?.body ?? '')
  const row = () => store.read.selectFrom('webhook_endpoints').selectAll().executeTakeFirstOrThrow()
  const fill = (aside_bytes: number) =>
    store.write((tx) => tx.updateTable('webhook_endpoints').set({ aside_bytes }).execute())
  await fill(mostAsideBytes - 1)
  await rig.courier()
  await move(clock, async () =>
    (await rig.deliveries(id)).every((one) => one.outcome !== 'waiting'),
  )
  t.match(await row(), { aside_bytes: mostAsideBytes - 1 + bytes, events_not_kept: 0 })
  await rig.land(mail, 'delivered')
  await rig.land(mail, 'delivered')
  t.equal((await rig.deliveries(id)).length, 1)
  t.match(await row(), { events_not_kept: 2 })
  await announceDisabled({ store, clock, log: silentLog }, new AbortController().signal)
  const [told] = await store.read.selectFrom('notices').selectAll().execute()
  t.match(told, { kind: 'webhook', key: id, text: /64 MiB, so further events are not kept/ })

  await fill(bytes)
  await updateEndpoint({ store, clock }, accountId, id, { enabled: true })
  t.equal(await replay({ store, now: () => clock.now() }, accountId, id, 'failed'), 1)
  t.match(await row(), { aside_bytes: 0 }, 'what is sent again makes room')
})

t.test('an endpoint that is disabled and enabled at once leaves nothing lying', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const { store, accountId } = rig
  const answers: (() => void)[] = []
  const receiver = await openReceiver(t, {
    script: () => new Promise((resolve) => answers.push(() => resolve(200))),
  })
  const { id } = await rig.endpoint(receiver.url)
  for (let i = 0; i < 30; i++) await rig.land(await rig.mail(), 'delivered')
  await rig.courier()
  await move(clock, async () => receiver.received.length === 10)
  await updateEndpoint({ store, clock }, accountId, id, { enabled: false })
  for (let passed = 0; passed < 2_000; passed += 200) await clock.advance(200)
  await updateEndpoint({ store, clock }, accountId, id, { enabled: true })
  await rig.land(await rig.mail(), 'delivered')
  const log = () => rig.deliveries(id)
  await move(clock, async () => {
    for (const answer of answers.splice(0)) answer()
    return (await log()).every(({ outcome }) => outcome === 'delivered')
  })
  t.equal((await log()).length, 31)
  t.equal(receiver.received.length, 31, 'each once')
})

t.test(
  'a database that cannot be read is told of once, not ten times a second',
  aboutSqlite,
  async (t) => {
    const clock = new FakeClock()
    const rig = await webhookRig(t, { clock })
    await rig.endpoint('https://example.com/hook', ['email.bounced'])
    const lines: string[] = []
    const log = { ...silentLog, error: (_fields: unknown, text?: string) => lines.push(text ?? '') }
    let broken = false
    const read = rig.store.read.withPlugin({
      transformQuery: ({ node }) => {
        if (broken) throw new Error('the disk is gone')
        return node
      },
      transformResult: async ({ result }) => result,
    })
    await rig.courier({ store: { ...rig.store, read }, log: log as typeof silentLog })
    broken = true
    for (let passed = 0; passed < 30_000; passed += 100) await clock.advance(100)
    t.same(lines, [
      'What waits for a webhook endpoint cannot be sent',
      'Webhooks could not be read; trying again every second',
    ])
  },
)

t.test('only accounts that listen, on plans that have it, are queued for', async (t) => {
  const rig = await webhookRig(t)
  const { store, accountId, clock } = rig
  const { id } = await rig.endpoint('https://example.com/hook', ['email.bounced'])
  const queued = async () => (await rig.deliveries(id)).length
  const mail = await rig.mail()
  await rig.land(mail, 'delivered')
  t.equal(await queued(), 0, 'not what was not asked for')
  await rig.land(mail, 'bounced')
  t.equal(await queued(), 1)
  t.match((await rig.deliveries(id))[0]?.body, '"bounceReason":"Permanent"')
  await updateEndpoint({ store, clock }, accountId, id, { enabled: false })
  await rig.land(mail, 'bounced')
  t.equal(await queued(), 2, 'also while it is disabled: the courier sets it aside')
  await updateEndpoint({ store, clock }, accountId, id, { enabled: true })
  const free = plans.email.find(({ webhooks }) => !webhooks)
  if (free === undefined) throw new Error('every plan has webhooks')
  await store.write((tx) => setPlan(tx, accountId, free))
  await rig.land(mail, 'bounced')
  t.equal(await queued(), 2, 'not on a plan without')
  await t.rejects(rig.endpoint('https://example.com/'), { code: 'plan_limit_exceeded' })
})

t.test('after a rotation both secrets sign for a while', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const { store, accountId } = rig
  const receiver = await openReceiver(t)
  const { id, secret } = await rig.endpoint(receiver.url)
  const rotated = await rotateSecret({ store, clock, key }, accountId, id, 20_000)
  t.match(rotated.secret, /^whsec_[\w-]{43}$/)
  await rig.courier()
  const digests = async () => {
    const before = receiver.received.length
    await rig.land(await rig.mail(), 'delivered')
    while (receiver.received.length === before) {
      await clock.advance(500)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const got = receiver.received[before]
    const [at = '', ...rest] = String(got?.headers['svc-signature']).split(',')
    return { rest, of: (s: string) => `v1=${openssl(s, `${at.slice(2)}.${got?.body}`)}` }
  }
  const during = await digests()
  t.same(during.rest, [during.of(rotated.secret), during.of(secret)])
  await clock.advance(20_000)
  const after = await digests()
  t.same(after.rest, [after.of(rotated.secret)], 'and then the new one alone')
  const stored = await store.read.selectFrom('webhook_endpoints').selectAll().executeTakeFirst()
  t.notMatch(String(stored?.secret), secret.slice(6), 'sealed at rest')
})

t.test('a result that cannot be written sends no webhook twice, and no other waits', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const receiver = await openReceiver(t)
  const { id } = await rig.endpoint(receiver.url)
  const [bad, good] = [await rig.mail(), await rig.mail()]
  await poison(rig.store, 'insert on webhook_deliveries', `new.email_id = '${bad}'`)
  await rig.land(bad, 'delivered')
  await rig.land(good, 'delivered')
  await rig.courier()
  // Longer than what was unwritten once waited for.
  for (let passed = 0; passed < 20_000; passed += 200) {
    await clock.advance(200)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  t.same(receiver.received.map(({ json }) => json.emailId).sort(), [bad, good].sort())
  t.match(
    (await rig.deliveries(id)).filter(({ outcome }) => outcome === 'delivered'),
    [{ emailId: good }],
  )
})

t.test('what cannot be counted of a webhook ends in the log all the same', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const receiver = await openReceiver(t, { script: () => 410 })
  const { id } = await rig.endpoint(receiver.url)
  await poison(rig.store, 'update of failures on webhook_endpoints', `new.id = '${id}'`)
  await rig.land(await rig.mail(), 'delivered')
  await rig.courier()
  const log = () => rig.deliveries(id, true)
  while (!(await log()).some(({ outcome }) => outcome === 'failed')) {
    await clock.advance(200)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const error = /could not be written: it is poisoned/
  t.match(await log(), [{ outcome: 'failed', attempts: 5, status: 410, error }])
  t.equal(receiver.received.length, 5)
})

t.test('an endpoint whose events are broken is shown, and hinders no other', async (t) => {
  const rig = await webhookRig(t)
  const receiver = await openReceiver(t)
  const [broken, whole] = [await rig.endpoint(receiver.url), await rig.endpoint(receiver.url)]
  await rig.store.write((tx) =>
    tx.updateTable('webhook_endpoints').set({ events: '{' }).where('id', '=', broken.id).execute(),
  )
  const listed = await listEndpoints(rig.store.read, rig.accountId)
  t.match(listed, [
    { id: broken.id, events: [] },
    { id: whole.id, events: ['email.sent'] },
  ])
  const id = await rig.mail()
  // What is told is read from the mail, which may be broken too.
  await rig.store.write((tx) =>
    tx.updateTable('emails').set({ to_list: '{' }).where('id', '=', id).execute(),
  )
  await rig.land(id, 'sent', { recipient: null, deliveryId: null })
  await rig.land(id, 'delivered')
  await rig.courier()
  await receiver.until((received) => received.length === 2)
  t.match(receiver.received[1], { json: { event: 'email.delivered' } })
  await deleteEndpoint(rig, rig.accountId, broken.id)
})

t.test('an endpoint whose secret is broken fails by itself', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const receiver = await openReceiver(t)
  const [broken, whole] = [await rig.endpoint(receiver.url), await rig.endpoint(receiver.url)]
  await rig.store.write((tx) =>
    tx
      .updateTable('webhook_endpoints')
      .set({ secret: Buffer.from('x') })
      .where('id', '=', broken.id)
      .execute(),
  )
  await rig.land(await rig.mail(), 'delivered')
  await rig.courier()
  const ended = async (id: string) => (await rig.deliveries(id))[0]
  while ((await ended(broken.id))?.outcome !== 'failed') {
    await clock.advance(200)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  t.match(await ended(broken.id), { attempts: 5, error: /^Internal error; / })
  t.match(await ended(whole.id), { outcome: 'delivered' })
})
