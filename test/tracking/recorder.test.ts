import t, { type Test } from 'tap'
import { packageFile } from '../../src/config/index.js'
import { ApiError } from '../../src/errors/index.js'
import { makeLandEvents, readTimeline } from '../../src/events/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { loadTrackingAgents, openRecorder } from '../../src/tracking/index.js'
import { makeWebhookJobs } from '../../src/webhooks/index.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { countStatements } from '../support/statements.js'
import { plans, webhookRig } from '../support/webhooks.js'

const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Mobile/15E148'
const asked = { userAgent: phone, address: '203.0.113.9', onlyHead: false }
const opened = { ...asked, kind: 'opened' } as const
const clicked = { ...asked, kind: 'clicked', target: 'https://x.test/a', links: 3 } as const

/** A recorder over a real store, with a mail that was delivered a minute ago and webhooks for all. */
async function start(t: Test, options: { log?: Log; machineWithinMs?: number } = {}) {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  await rig.endpoint('https://hooks.example.test/', ['email.opened', 'email.clicked'])
  const { store, accountId } = rig
  let failing = false
  const recorder = openRecorder({
    store: {
      ...store,
      gather: (together, weigh) => {
        const write = store.gather(together, weigh)
        return (item) =>
          failing ? Promise.reject(new ApiError('service_unavailable', 'disk full')) : write(item)
      },
    },
    clock,
    log: options.log ?? silentLog,
    land: makeLandEvents([makeWebhookJobs(plans)]),
    agents: loadTrackingAgents([packageFile('config/tracking-agents.toml')]),
    machineWithinMs: options.machineWithinMs ?? 3_000,
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= recorder.close())
  t.teardown(close)
  const deliver = async (emailId: string, endedAt: number) => {
    const id = store.ids.serial()
    await store.write((tx) =>
      tx
        .insertInto('deliveries')
        .values({
          id,
          email_id: emailId,
          recipient: 'a@one.test',
          status: 'delivered',
          attempts: 1,
          reply: '250 ok',
          remote: null,
          tls: null,
          transcript: null,
          ended_at: endedAt,
        })
        .execute(),
    )
    return { accountId, emailId, deliveryId: id }
  }
  const emailId = await rig.mail()
  return {
    ...rig,
    clock,
    recorder,
    close,
    emailId,
    copy: await deliver(emailId, clock.now() - 60_000),
    deliver,
    fail(on: boolean) {
      failing = on
    },
    async counts(id = emailId) {
      const row = await store.read
        .selectFrom('emails')
        .select(['opens', 'clicks', 'opened_at', 'clicked_at', 'status'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return [row.opens, row.clicks, row.opened_at, row.clicked_at]
    },
    timeline: () => readTimeline(store.read, accountId, emailId),
    jobs: async () =>
      (await store.read.selectFrom('webhook_jobs').select('body').orderBy('id').execute()).map(
        ({ body }) => JSON.parse(body),
      ),
    async settled() {
      // What was begun by the clock is over when a write behind it is.
      await store.write(async () => {})
    },
  }
}

t.test('an open and a click are counted and told within a second', async (t) => {
  const rig = await start(t)
  const { clock, recorder, copy } = rig
  let at = clock.now()
  recorder.note(copy, { ...opened, userAgent: '' })
  await clock.advance(1)
  at++
  recorder.note(copy, opened)
  recorder.note(copy, opened)
  await clock.advance(100)
  recorder.note(copy, clicked)
  recorder.note(copy, opened)
  t.same(await rig.counts(), [0, 0, null, null], 'nobody waited for it')
  await clock.advance(900)
  await rig.settled()
  t.same(await rig.counts(), [3, 1, at, at + 100], 'the times are those of the first')
  const of = {
    emailId: rig.emailId,
    deliveryId: copy.deliveryId,
    recipient: 'a@one.test',
    class: 0,
  }
  t.match(await rig.timeline(), [
    { ...of, type: 'opened', at, reply: null, detail: { userAgent: phone } },
    { ...of, type: 'opened', at: at + 100 },
    { ...of, type: 'opened', at: at - 1, detail: { machine: true } },
    { ...of, type: 'clicked', at: at + 100, detail: { url: 'https://x.test/a', userAgent: phone } },
  ])
  const payload = {
    event: 'email.opened',
    emailId: rig.emailId,
    to: ['a@one.test'],
    subject: 'Order “7”',
    status: 'opened',
    timestamp: new Date(at).toISOString(),
    domainId: rig.domain.id,
    domain: 'shop.test',
  }
  t.same(await rig.jobs(), [
    payload,
    { ...payload, timestamp: new Date(at + 100).toISOString() },
    {
      ...payload,
      event: 'email.clicked',
      status: 'clicked',
      timestamp: new Date(at + 100).toISOString(),
    },
  ])
  await clock.advance(60_000)
  recorder.note(copy, opened)
  await clock.advance(1_000)
  await rig.settled()
  t.same(await rig.counts(), [4, 1, at, at + 100], 'the first time stays')
})

t.test("machines' opens and clicks are kept, and count for nothing", async (t) => {
  const rig = await start(t)
  const { clock, recorder, copy } = rig
  const fresh = await rig.deliver(await rig.mail(), clock.now() - 500)
  const soon = { ...copy, deliveryId: fresh.deliveryId, emailId: fresh.emailId }
  recorder.note(copy, { ...opened, userAgent: 'Mozilla/5.0' })
  recorder.note(copy, { ...opened, onlyHead: true })
  recorder.note(copy, { ...opened, ahead: true })
  for (const path of ['a', 'b', 'c']) {
    recorder.note(copy, { ...clicked, target: `https://x.test/${path}` })
  }
  recorder.note(soon, opened)
  recorder.note(soon, clicked)
  await clock.advance(1_000)
  await rig.settled()
  t.same(await rig.counts(), [0, 0, null, null])
  t.same(await rig.counts(fresh.emailId), [0, 0, null, null])
  t.same(await rig.jobs(), [], 'and nobody is told')
  const details = (await rig.timeline()).map(({ type, detail }) => [
    type,
    detail?.machine,
    detail?.sign,
  ])
  t.same(details, [
    ['opened', true, 'Apple Mail Privacy Protection'],
    ['opened', true, 'HEAD'],
    ['opened', true, 'prefetch'],
    ...Array.from({ length: 3 }, () => ['clicked', true, '3 links at once']),
  ])
  const [event] = await rig.store.read
    .selectFrom('events')
    .selectAll()
    .where('email_id', '=', fresh.emailId)
    .execute()
  t.match(JSON.parse(event?.detail ?? ''), {
    machine: true,
    sign: '500 ms after the mail had arrived',
  })
  await clock.advance(60_000)
  recorder.note(copy, opened)
  recorder.note(soon, clicked)
  await clock.advance(1_000)
  await rig.settled()
  t.match(await rig.counts(), [1, 0], 'a person comes later')
  t.match(await rig.counts(fresh.emailId), [0, 1])
})

t.test('mail that waits for another attempt may have been opened', async (t) => {
  const rig = await start(t)
  const { clock, recorder, store, accountId } = rig
  const waiting = async (lastAttemptAt: number | null) => {
    const id = store.ids.serial()
    await store.write((tx) =>
      tx
        .insertInto('queue')
        .values({
          id,
          email_id: rig.emailId,
          account_id: accountId,
          recipient: 'b@two.test',
          lane: 'two.test',
          class: 1,
          due_at: clock.now(),
          attempts: 1,
          expires_at: clock.now() + 1e9,
          last_attempt_at: lastAttemptAt,
        })
        .execute(),
    )
    return { accountId, emailId: rig.emailId, deliveryId: id }
  }
  recorder.note(await waiting(null), opened)
  recorder.note(await waiting(clock.now() - 60_000), opened)
  await clock.advance(1_000)
  await rig.settled()
  t.match(await rig.counts(), [1])
  t.match(await rig.timeline(), [
    { recipient: 'b@two.test', class: 1, detail: { sign: 'before the mail had arrived' } },
    { recipient: 'b@two.test', class: 1, detail: { machine: undefined } },
  ])
})

t.test('a flood of one token is counted whole and told in part', async (t) => {
  const rig = await start(t)
  const { clock, recorder, copy } = rig
  for (let second = 0; second < 5; second++) {
    for (let i = 0; i < 1_000; i++) {
      recorder.note(copy, opened)
      if (i % 100 === 99) await clock.advance(1)
    }
    await clock.advance(1_000)
    await rig.settled()
  }
  t.match(await rig.counts(), [5_000])
  t.equal((await rig.timeline()).length, 30)
  t.equal((await rig.jobs()).length, 30)
  await clock.advance(60_000)
  for (let i = 0; i < 1_000; i++) recorder.note(copy, opened)
  await clock.advance(1_000)
  await rig.settled()
  t.match(await rig.counts(), [6_000])
  t.equal((await rig.timeline()).length, 31, 'one a minute')
})

t.test('the copies of a mail are counted together', async (t) => {
  const rig = await start(t)
  const { clock, recorder, copy, emailId } = rig
  const second = await rig.deliver(emailId, clock.now() - 60_000)
  const at = clock.now()
  recorder.note(second, opened)
  await clock.advance(1)
  recorder.note(copy, opened)
  recorder.note(copy, clicked)
  await rig.close()
  t.same(await rig.counts(), [2, 1, at, at + 1])
  t.equal((await rig.timeline()).length, 3)
})

t.test('what belongs to another account or to nothing leaves nothing', async (t) => {
  const rig = await start(t)
  const { clock, recorder, copy } = rig
  recorder.note({ ...copy, accountId: rig.store.ids.uuid() }, opened)
  recorder.note({ ...copy, deliveryId: 1, emailId: rig.store.ids.uuid() }, opened)
  // A delivery that the log has forgotten, of a mail that it has not.
  recorder.note({ ...copy, deliveryId: 2 }, opened)
  await clock.advance(1_000)
  await rig.settled()
  t.match(await rig.counts(), [1])
  t.match(await rig.timeline(), [{ recipient: null, deliveryId: 2 }])
})

t.test('what cannot be written is written later, and the end waits for it', async (t) => {
  const errors: unknown[] = []
  const log: Log = { ...silentLog, error: (fields) => errors.push(fields) }
  const rig = await start(t, { log })
  const { clock, recorder, copy } = rig
  rig.fail(true)
  recorder.note(copy, opened)
  await clock.advance(1_000)
  await rig.settled()
  t.match(await rig.counts(), [0])
  t.match(errors, [{ visits: 1 }])
  rig.fail(false)
  recorder.note(copy, clicked)
  recorder.note(copy, opened)
  await rig.close()
  t.match(await rig.counts(), [2, 1], 'with what came since')
})

t.test('a visit that cannot be written is dropped, and takes no other with it', async (t) => {
  const told: string[] = []
  const log = { ...silentLog, error: (_: object, message: string) => void told.push(message) }
  const rig = await start(t, { log })
  const { clock, recorder, copy } = rig
  const bad = await rig.mail()
  await poison(rig.store, 'insert on events', `new.email_id = '${bad}'`)
  recorder.note(await rig.deliver(bad, clock.now() - 60_000), opened)
  recorder.note(copy, opened)
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) {
      await clock.advance(500)
      await rig.settled()
    }
  }
  await until(async () => (await rig.counts())[0] === 1)
  await until(async () => told.length > 0)
  await clock.advance(5_000)
  await rig.settled()
  t.same(told, ['An open or click cannot be written; it is dropped'], 'it is told once')
  t.same((await rig.counts(bad))[0], 0)
})

t.test('opens of many mails cost a part of a statement each', async (t) => {
  const rig = await start(t)
  const { clock, recorder, store } = rig
  const copies = []
  for (let i = 0; i < 100; i++) {
    copies.push(await rig.deliver(await rig.mail(), clock.now() - 60_000))
  }
  await store.write((tx) => tx.deleteFrom('webhook_endpoints').execute())
  const counts = countStatements(t)
  for (const copy of copies) recorder.note(copy, opened)
  await clock.advance(600)
  await rig.settled()
  const made = [...counts.values()].reduce((sum, times) => sum + times, 0)
  t.match(await rig.counts(copies.at(-1)?.emailId), [1])
  // Two groups of a look-up, an update, one to three inserts (64; 32 + 4) and the looks of their effects.
  t.ok(made > 0 && made <= 20, `${made} statements for 100 opens`)
})

t.test('as long as nobody asks no timer wakes the thread', async (t) => {
  const { clock, recorder, copy } = await start(t)
  t.notOk(clock.isAwaited)
  recorder.note(copy, opened)
  recorder.note(copy, opened)
  t.ok(clock.isAwaited)
  await clock.advance(2_000)
  t.notOk(clock.isAwaited)
})

t.test('a few opens now and then share their transactions', async (t) => {
  const rig = await start(t)
  const { clock, recorder } = rig
  const copies = []
  for (let i = 0; i < 40; i++) {
    copies.push(await rig.deliver(await rig.mail(), clock.now() - 60_000))
  }
  const counts = countStatements(t)
  for (const copy of copies) {
    recorder.note(copy, opened)
    await clock.advance(25)
  }
  await rig.close()
  const commits = counts.get('commit') ?? 0
  t.ok(commits > 0 && commits <= 4, `${commits} in a second and a half`)
  t.match(await rig.counts(copies.at(-1)?.emailId), [1])
})

t.test('a visit that a clock dated ahead holds up none behind it', async (t) => {
  const { clock, recorder, copy, deliver, mail, store } = await start(t)
  recorder.note(copy, opened)
  clock.setBack(2 * 3_600_000)
  const later = await deliver(await mail(), clock.now() - 60_000)
  recorder.note(later, opened)
  const read = store.read.selectFrom('emails').select('opens').where('opens', '>', 0)
  for (let looks = 0; (await read.execute()).length < 2; looks++) {
    if (looks > 1_000) throw new Error('They are not written')
    await clock.advance(50)
  }
  t.pass('both are written')
})
