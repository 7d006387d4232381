// Complaints that come through the real listener: what they do, proved and not.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { pausesOf } from '../../src/billing/index.js'
import { listOperatorMails } from '../../src/inbound/index.js'
import { listSuppressions } from '../../src/suppression/index.js'
import { openLoop } from '../support/loop.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { arf, makePast, stateOf } from './mails.js'
import { startInbound } from './start.js'

const feedback = 'feedback@mail.posthorn.test'

/** An account that has mailed to 253 people, and a listener that knows a loop. */
async function open(t: Test) {
  const loop = await openLoop('arf.loop.test')
  const resolver = fakeResolver(loop.records)
  const store = await openTestStore(t)
  const past = await makePast(store)
  const loopFile = join(makeTempDir(t), 'feedback-loops.toml')
  const list = (text: string) => writeFileSync(loopFile, `[[loops]]\nname = "Loop"\n${text}\n`)
  list('domains = ["arf.loop.test"]')
  const inbound = await startInbound(t, { store, resolver, loopFile })
  const hour = Math.floor(Date.now() / 3_600_000)
  const none = { bounces: 0, complaints: 0, unproved: 0 }
  const marketing = { marketing_recipients: 0, marketing_bounces: 0, marketing_complaints: 0 }
  const counted = { account_id: past.accountId, hour, recipients: 253, ...none, ...marketing }
  await store.write((tx) => tx.insertInto('protection_hours').values(counted).execute())
  return {
    store,
    past,
    inbound,
    loop,
    resolver,
    list,
    /** A complaint about a new mail to the address, as `write` makes it of the plain one. */
    async complain(recipient: string, write: (raw: string) => string = (raw) => raw) {
      const { deliveries } = await past.mail({ [recipient]: 'delivered' })
      const cfbl = deliveries[0]?.returnPath ?? ''
      t.match(await inbound.give(write(arf({ recipient, cfbl })), feedback), /^250 /)
    },
    async readAll() {
      const waiting = () => store.read.selectFrom('inbound_spool').select('id').execute()
      while ((await waiting()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    },
    paused: async () => (await pausesOf(store.read, past.accountId)).paused,
    counts: () => store.read.selectFrom('protection').selectAll().executeTakeFirst(),
    suppressed: async () =>
      (await listSuppressions(store.read, past.accountId, { limit: 99 })).map(({ email }) => email),
  }
}

t.test('self-written complaints suppress their own address, and pause nobody', async (t) => {
  const { complain, readAll, paused, counts, suppressed, store } = await open(t)
  for (let i = 0; i < 3; i++) await complain('eve@one.test')
  for (let i = 0; i < 5; i++) await complain(`mallory${i}@one.test`)
  await readAll()
  t.equal(await paused(), null)
  t.match(await counts(), { recipients: 253, complaints: 0, unproved: 6 })
  t.equal((await suppressed()).length, 6)
  const { events } = await stateOf(store)
  t.same(
    events.map(({ detail }) => JSON.parse(detail ?? '{}')),
    events.map(() => ({ feedbackType: 'abuse' })),
  )
  const [kept] = await listOperatorMails(store.read, 99)
  t.match(
    kept,
    { subject: /^Unproved complaint about the mail to / },
    'the operator may look at it',
  )
})

t.test('three people of a feedback loop pause an account, one person does not', async (t) => {
  const { complain, readAll, paused, counts, loop, suppressed, store } = await open(t)
  for (let i = 0; i < 4; i++) await complain('eve@one.test', loop.sign)
  await complain('ada@one.test', loop.sign)
  await readAll()
  t.equal(await paused(), null)
  t.match(await counts(), { complaints: 2, unproved: 0 })
  t.same((await suppressed()).sort(), ['ada@one.test', 'eve@one.test'])
  await complain('bob@one.test', loop.sign)
  await readAll()
  t.equal(await paused(), 'complaint')
  const { events } = await stateOf(store)
  t.match(JSON.parse(events[0]?.detail ?? '{}'), { evidence: 'Loop: DKIM of arf.loop.test' })
  t.same(await listOperatorMails(store.read, 99), [])
})

t.test('a proof that comes after a forgery counts, once', async (t) => {
  const { past, inbound, loop, readAll, counts, store } = await open(t)
  const { deliveries } = await past.mail({ 'ada@one.test': 'delivered' })
  const cfbl = deliveries[0]?.returnPath ?? ''
  const raw = arf({ recipient: 'ada@one.test', cfbl })
  for (const one of [raw, raw, loop.sign(raw), loop.sign(raw), raw])
    await inbound.give(one, feedback)
  await readAll()
  t.match(await counts(), { complaints: 1, unproved: 1 })
  t.equal((await stateOf(store)).events.length, 2)
})

t.test('while the DNS is out of order a complaint waits for its proof', async (t) => {
  const { complain, readAll, counts, loop, resolver, store } = await open(t)
  const record = loop.records[loop.name]
  resolver.set(loop.name, { fail: 'SERVFAIL' })
  await complain('ada@one.test', loop.sign)
  const tries = async () =>
    (await store.read.selectFrom('inbound_spool').select('tries').execute())[0]?.tries
  while ((await tries()) !== 1) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same((await stateOf(store)).events, [])
  resolver.set(loop.name, record)
  await readAll()
  t.match(await counts(), { complaints: 1, unproved: 0 })
})

t.test('the list of feedback loops is read again, and a bad one changes nothing', async (t) => {
  const { complain, readAll, counts, inbound, list } = await open(t)
  await complain('eve@one.test')
  await readAll()
  list('domains = ["NOT GOOD"]')
  inbound.reload()
  await complain('ada@one.test')
  await readAll()
  t.match(await counts(), { complaints: 0, unproved: 2 })
  list('networks = ["127.0.0.0/8"]')
  inbound.reload()
  await complain('bob@one.test')
  await readAll()
  t.match(await counts(), { complaints: 1, unproved: 2 })
})
