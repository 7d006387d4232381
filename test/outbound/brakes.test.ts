// Issue 'what operators and developers ask', 8: campaign mail goes slower to a site that has had enough, and comes back by itself.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { broadcastReport, findBroadcast } from '../../src/broadcasts/index.js'
import type { Config } from '../../src/config/index.js'
import { packageFile } from '../../src/config/index.js'
import { sendingView } from '../../src/dashboard/campaigns/report-progress.js'
import { sendingPart } from '../../src/dashboard/campaigns/sending-part.js'
import { endBrakes, openBrakes } from '../../src/outbound/index.js'
import { queueClass } from '../../src/store/index.js'
import { arf } from '../inbound/mails.js'
import { startInbound } from '../inbound/start.js'
import { insertCampaignRows } from '../support/campaign-rows.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import type { Act, MxSession } from '../support/fake-mx-script.js'
import { openLoop } from '../support/loop.js'
import { leased, type OutboundRig, outboundRig } from '../support/outbound.js'
import { fakeResolver } from '../support/resolver.js'

// On a machine that may have other work.
t.setTimeout(120_000)

const minuteMs = 60_000
const hosts = { grand: '127.0.1.1', other: '127.0.1.2' }
const block =
  '550 5.7.1 Messages from [192.0.2.1] were not sent, as part of their network is on our block list (S3150)'

interface World {
  rig: OutboundRig
  clock: FakeClock
  /** What the provider says to each mail, from one address or from all; undefined: it takes it. */
  says: (words: string | undefined, to?: string) => void
  /** The copies that the provider took. */
  copies: () => readonly Buffer[]
  /** How many mails the provider was offered, by one address or by all. */
  offered: (by?: string) => number
  pass: (minutes: number, stepMs?: number) => Promise<void>
}

/** A provider that may block, another site, and a campaign to both. */
async function world(
  t: Test,
  campaign: number,
  config: Partial<Config['outbound']> = {},
): Promise<World> {
  const clock = new FakeClock()
  const rig = await outboundRig(t, {
    clock,
    config,
    stopped: true,
    shaping: `[providers.grand]\nmx = ["mx.grand.test"]\nmessages_per_minute = 12\n
[providers.other]\nmx = ["mx.other.test"]\nmessages_per_minute = 12\n`,
    dns: {
      'mx.grand.test': { a: [hosts.grand] },
      'mx.other.test': { a: [hosts.other] },
      'grand.test': { mx: [{ preference: 10, exchange: 'mx.grand.test' }] },
      'other.test': { mx: [{ preference: 10, exchange: 'mx.other.test' }] },
    },
  })
  const plans = loadPlans(packageFile('config/plans.toml'))
  await rig.store.write((tx) => setMarketingPlan(tx, rig.accountId, plans.marketing.at(-1) ?? null))
  let said: { words: string | undefined; to: string | undefined } | undefined
  const offers: string[] = []
  const { port } = rig.mx
  const grand = await fakeMx(t, {
    host: hosts.grand,
    port,
    mail: (_, { remoteAddress }: MxSession): Act => {
      offers.push(remoteAddress)
      const isMeant = said?.to === undefined || said.to === remoteAddress
      return (isMeant ? said?.words : undefined) ?? '250 ok'
    },
  })
  await fakeMx(t, { host: hosts.other, port })
  for (let i = 0; i < campaign; i++) {
    await rig.send({ to: `c${i}@grand.test`, type: 'marketing' })
    if (i % 5 === 0) await rig.send({ to: `c${i}@other.test`, type: 'marketing' })
  }
  await rig.start()
  return {
    rig,
    clock,
    says: (words, to) => {
      said = { words, to }
    },
    copies: () => grand.messages.map(({ raw }) => raw),
    offered: (by) => offers.filter((from) => by === undefined || from === by).length,
    ...passing(rig, clock),
  }
}

/** Lets minutes pass, step by step; each step ends what is under way. */
const passing = (rig: OutboundRig, clock: FakeClock): Pick<World, 'pass'> => ({
  async pass(minutes, stepMs = 10_000) {
    for (let left = minutes * minuteMs; left > 0; left -= stepMs) {
      await clock.advance(stepMs)
      for (let turn = 0; turn < 2; turn++) {
        await new Promise((resolve) => setImmediate(resolve))
        await rig.store.write(async () => {})
      }
      await rig.eventually(async () => (await leased(rig)) === 0)
    }
  },
})

const statesOf = async ({ store }: OutboundRig, site: string) => {
  const rows = await store.read
    .selectFrom('deliveries')
    .select(({ fn }) => ['status', fn.countAll<number>().as('n')])
    .where('recipient', 'like', `c%@${site}.test`)
    .groupBy('status')
    .execute()
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
}

const percent = async ({ store }: OutboundRig) => (await openBrakes(store.read))[0]?.percent

const told = async ({ store }: OutboundRig) =>
  (
    await store.read
      .selectFrom('notices')
      .select('text')
      .where('kind', '=', 'brake')
      .where('state', '!=', 'settled')
      .execute()
  ).map(({ text }) => text)

/** Lets minutes pass, at most so many, until the brake is there: a look at it takes longer over a server. */
async function passUntil({ rig, pass }: World, state: number | undefined, most: number) {
  for (let left = most; left > 0 && (await percent(rig)) !== state; left--) await pass(1, minuteMs)
}

/** What the campaign's page says of it while it is sent: all mails of `world` are made its own. */
async function campaignPage({ rig, clock }: World): Promise<string> {
  const { store, accountId } = rig
  const id = store.ids.uuid()
  const row = { id, accountId, subject: 'On its way', mails: 150, hours: 1 }
  await insertCampaignRows(store, { ...row, sentAt: clock.now() - minuteMs, status: 'sending' })
  // No code changes it once an email is there.
  const change = { broadcast_id: id as never }
  await store.write((tx) => tx.updateTable('emails').set(change).execute())
  const broadcast = await findBroadcast(store.read, accountId, id)
  const deps = { store, gateOf: async (of: Parameters<typeof rig.gateOf>[0]) => rig.gateOf(of) }
  const of = { broadcast, base: '', now: clock.now(), waits: false, zone: 'UTC' }
  const report = await broadcastReport({ store, tracking: undefined }, accountId, id)
  return String(sendingPart(await sendingView(deps, report, of)))
}

const gate = ({ rig }: World, of: 0 | 2 = queueClass.campaign) =>
  rig.gateOf({ lane: 'grand.test', class: of, accountId: rig.accountId })

t.test('a provider that blocks for two hours', async (t) => {
  const all = 75
  const here = await world(t, all)
  const { rig, says, offered, pass } = here
  await pass(4)
  t.equal(await percent(rig), undefined, 'nothing while all is well')
  const before = offered()
  says(block)
  await pass(1)
  t.equal(await percent(rig), 10)
  t.match(gate(here), { gate: 'brake', says: /goes at a tenth until .* were refused as unwanted/ })
  t.ok(offered() - before < 20, `${offered() - before} mails were offered before it was on`)
  await passUntil(here, 0, 15)
  t.equal(await percent(rig), 0, 'it got no better: campaigns wait')
  t.match(await told(rig), [/To grand from the pool default campaign mail waits until/])

  // A restart, or a kill, ends no brake: it is a row.
  await rig.stop(0)
  await rig.start()
  await pass(2, minuteMs)
  t.match(gate(here), { gate: 'brake', says: /waits until/ })
  const waited = offered()
  await rig.send({ to: 'reset@grand.test' })
  await pass(1)
  t.equal(offered(), waited + 1, 'transactional mail goes on, and is tried')
  t.same(await statesOf(rig, 'other'), { delivered: 15 }, 'no other site waits')

  await pass(106, 2 * minuteMs)
  t.ok(offered() - before < 60, `${offered() - before} mails were offered in two hours of a block`)
  says(undefined)
  // The last wait is an hour at most, then a tenth, a quarter and half of the pace for a quarter of an hour each.
  await passUntil(here, undefined, 140)
  t.equal(await percent(rig), undefined, 'it came back by itself')
  await pass(5)
  const states = await statesOf(rig, 'grand')
  t.ok((states.delivered ?? 0) > all - 15, `${JSON.stringify(states)} of ${all}`)
  t.same(await told(rig), [])
})

t.test(
  'a provider of the simulator shows the brake by hand, and no other site of it',
  async (t) => {
    const clock = new FakeClock()
    const short = 'brake_step_minutes = 8\nbrake_wait_minutes = 4\n'
    const rig = await outboundRig(t, {
      clock,
      stopped: true,
      shaping: `[domains."defers-20m.simulator.posthorn.test"]\n${short}`,
    })
    const plans = loadPlans(packageFile('config/plans.toml'))
    await rig.store.write((tx) =>
      setMarketingPlan(tx, rig.accountId, plans.marketing.at(-1) ?? null),
    )
    const to = (name: string, domain: string) => `${name}@${domain}simulator.posthorn.test`
    for (let i = 0; i < 32; i++) {
      await rig.send({ to: to(`c${i}`, 'defers-20m.'), type: 'marketing' })
    }
    for (const name of ['full+1', 'deferred+1']) await rig.send({ to: to(name, '') })
    await rig.start()
    const { pass } = passing(rig, clock)
    await pass(1)
    t.match(await openBrakes(rig.store.read), [
      { site: 'simulator defers-20m', percent: 10, step_ms: 480_000 },
    ])
    const lane = 'defers-20m.simulator.posthorn.test'
    for (let i = 0; i < 10; i++) {
      await rig.send({ to: to(`late${i}`, 'defers-20m.'), type: 'marketing' })
    }
    const gate = () => rig.gateOf({ lane, class: queueClass.campaign, accountId: rig.accountId })
    await rig.eventually(() => gate()?.gate === 'brake')
    t.match(await told(rig), [
      /^To simulator defers-20m from the pool default campaign mail goes at/,
    ])
    t.same(rig.resolver.questions, [], 'nothing was looked up')
  },
)

t.test(
  'a provider that blocks one address of a pool does not get the rest by the others',
  async (t) => {
    const [first = '', second = ''] = ['127.0.2.1', '127.0.2.2']
    const sources = [first, second].map((address) => ({ addresses: [address], weight: 1 }))
    const pools = { bulk: { sources, classes: ['campaign'], accounts: [] } }
    const here = await world(t, 150, { pools })
    const { rig, says, offered, pass } = here
    await pass(4)
    t.equal(await percent(rig), undefined)
    const usual = offered(second) / 4
    says(block, first)
    await passUntil(here, 10, 6)
    const brake = { site: 'grand', source: 'bulk', percent: 10 }
    t.match(await openBrakes(rig.store.read), [brake], 'the brake is on')
    const words = /^To grand from the pool bulk campaign mail goes at a tenth/
    t.match(await told(rig), [words], 'the operator is told')
    const before = offered(second)
    await pass(5)
    const slowed = (offered(second) - before) / 5
    // A claim that is under way has not said yet what holds the rest.
    await rig.eventually(() => gate(here)?.gate === 'brake')
    const page = await campaignPage(here)
    t.equal(page.split('grand.test: slowed down').length, 2, 'once, tried before or not')
    t.match(
      page,
      /Why it is slow<.*grand\.test: slowed down<.*Campaign mail is slowed down to grand.*(goes at a tenth|waits until)/s,
    )
    t.ok(slowed < usual / 2, `${slowed} a minute by the other address, where it had ${usual}`)
  },
)

t.test(
  'complaints slow down campaigns to their site, from all addresses, until an operator says',
  async (t) => {
    const here = await world(t, 3)
    const { rig, pass, clock } = here
    await rig.store.write(async (tx) => {
      const day = Math.floor(clock.now() / 86_400_000)
      const none = { deferred: 0, blocked: 0, complained: 0, busy_ms: 0 }
      const days = [
        { day: day - 5, tried: 9_000, delivered: 9_000, ...none, complained: 9 },
        { day, tried: 1_000, delivered: 1_000, ...none },
      ]
      await tx
        .insertInto('site_days')
        .values(days.map((one) => ({ site: 'grand', source: 'default', ...one })))
        .execute()
      const noted = { host: 'mx.grand.test', domain: 'grand.test', complained: 2 }
      await tx.insertInto('host_complaints').values(noted).execute()
    })
    await pass(2)
    t.equal(await percent(rig), undefined, 'two are no climb')
    await rig.store.write((tx) =>
      tx
        .insertInto('host_complaints')
        .values({ host: 'mx.grand.test', domain: 'grand.test', complained: 4 })
        .execute(),
    )
    await pass(2)
    t.match(await openBrakes(rig.store.read), [
      {
        site: 'grand',
        source: '',
        percent: 10,
        why: /^6 of 1\d\d\d recipients complained in 2 days, where 1 of 1,000/,
      },
    ])
    t.equal((await rig.store.write((tx) => endBrakes(tx, 'grand', clock.now()))).length, 1)
    t.same(await told(rig), [])
  },
)

t.test('complaints that come by SMTP from a feedback loop bring the brake on', async (t) => {
  const here = await world(t, 4)
  const { rig, pass, clock, copies } = here
  await pass(3)
  t.equal(copies().length, 4)
  const day = Math.floor(clock.now() / 86_400_000)
  const usual = { deferred: 0, blocked: 0, complained: 0, busy_ms: 0 }
  const sent = { site: 'grand', source: 'default', day, tried: 900, delivered: 900 }
  await rig.store.write((tx) =>
    tx
      .insertInto('site_days')
      .values({ ...sent, ...usual })
      .onConflict((one) => one.columns(['site', 'source', 'day']).doUpdateSet({ delivered: 900 }))
      .execute(),
  )
  const loop = await openLoop('arf.loop.test')
  const loopFile = join(rig.dataDir, 'feedback-loops.toml')
  writeFileSync(loopFile, '[[loops]]\nname = "Loop"\ndomains = ["arf.loop.test"]\n')
  const resolver = fakeResolver(loop.records)
  const inbound = await startInbound(t, { store: rig.store, resolver, loopFile })
  const complain = async (copy: Buffer | undefined) => {
    const header = String(copy)
    const cfbl = /^CFBL-Address: ([^;\s]+)/m.exec(header)?.[1] ?? ''
    const recipient = /^To: .*?([\w]+@grand\.test)/m.exec(header)?.[1] ?? ''
    const report = loop.sign(arf({ recipient, cfbl }))
    t.match(await inbound.give(report, 'feedback@mail.posthorn.test'), /^250 /, recipient)
  }
  const read = async () =>
    await rig.eventually(async () => {
      const waits = await rig.store.read.selectFrom('inbound_spool').select('id').execute()
      return waits.length === 0
    })
  for (const copy of copies().slice(0, 2)) await complain(copy)
  await read()
  await pass(2)
  t.same(await openBrakes(rig.store.read), [], 'two people are no climb')
  for (const copy of copies().slice(2)) await complain(copy)
  await read()
  await pass(2)
  t.match(await openBrakes(rig.store.read), [
    { site: 'grand', source: '', percent: 10, why: /^4 of 9\d\d recipients complained in 2 days/ },
  ])
})
