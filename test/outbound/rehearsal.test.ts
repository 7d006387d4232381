// Issue 'what operators and developers ask', 9: a campaign is rehearsed by the code that sends it, in a clock of its own.
import { join } from 'node:path'
import t from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import {
  loadShaping,
  policyFor,
  type RehearsalPlan,
  type RehearsedSite,
  runRehearsal,
} from '../../src/outbound/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import { leased, outboundRig } from '../support/outbound.js'

const minute = 60_000
const day = 86_400_000
const shipped = loadShaping([packageFile('config/shaping.toml')])
const usual = { key: 'a', provider: undefined, mx: undefined, domain: undefined }

const site = (of: Partial<RehearsedSite>): RehearsedSite => ({
  key: 'a',
  thread: 0,
  mails: 100,
  ahead: 0,
  beside: 0,
  policy: {
    ...policyFor(shipped, usual),
    connections: 5,
    initialConnections: 5,
    messagesPerMinute: 60_000,
  },
  says: { rate: { why: 'its rate' }, connections: { why: 'its connections' } },
  sources: [{ name: 'default', learned: undefined, brake: undefined }],
  attemptMs: 1_000,
  deferred: 0,
  ...of,
})

const plan = (sites: RehearsedSite[], of: Partial<RehearsalPlan> = {}): RehearsalPlan => ({
  startsAt: 0,
  leavesAt: () => of.startsAt ?? 0,
  opensAt: (now) => now,
  sites,
  maxConnections: 200,
  threads: 1,
  perSecond: 1_000,
  warmUp: undefined,
  retries: [5 * minute],
  ...of,
})

const courses = async (of: RehearsalPlan) => (await runRehearsal(of)).sites

const near = (a: number | null, b: number) => a !== null && Math.abs(a - b) <= 0.1 * b

t.test('what holds a campaign up, and for how long', async (t) => {
  // Of five connections one is kept for transactional mail.
  const [byConnections] = await courses(plan([site({ mails: 400 })]))
  t.ok(near(byConnections?.doneAt ?? 0, 100_000), `${byConnections?.doneAt}`)
  t.equal(byConnections?.held[0]?.gate, 'connections')

  const slow = { ...site({}).policy, messagesPerMinute: 60 }
  const [byRate] = await courses(plan([site({ mails: 600, policy: slow })]))
  t.ok(near(byRate?.doneAt ?? 0, 10 * minute), `${byRate?.doneAt}`)
  t.same(byRate?.held[0]?.why, 'its rate')

  const [behind] = await courses(plan([site({ mails: 300, ahead: 300, policy: slow })]))
  t.ok(near(behind?.doneAt ?? 0, 10 * minute), 'what waits of the same account goes first')
  const [beside] = await courses(plan([site({ mails: 300, beside: 600, policy: slow })]))
  t.ok(near(beside?.doneAt ?? 0, 10 * minute), 'others have their turns')

  const cold = plan([site({ mails: 120 })], { warmUp: new Map([['default', undefined]]) })
  const [byWarmUp] = await courses({ ...cold, startsAt: day / 2, leavesAt: () => day / 2 })
  t.equal(Math.floor((byWarmUp?.doneAt ?? 0) / day), 1, '40 today, the others tomorrow')
  t.equal(byWarmUp?.held[0]?.gate, 'warm-up')
  const { why = '', plain } = byWarmUp?.held[0] ?? {}
  t.match(why, / mails are used \(outbound\.warm_up\)$/)
  t.equal(`${plain} (outbound.warm_up)`, why, 'people of an account read no settings')

  const [putOff] = await courses(plan([site({ mails: 100, deferred: 0.1 })]))
  t.ok(
    (putOff?.doneAt ?? 0) > 10 * minute && (putOff?.mostlyAt ?? 0) < minute,
    'a tenth comes again',
  )

  const both = [site({ attemptMs: 100 }), site({ key: 'b', attemptMs: 100 })]
  const byMachine = await runRehearsal(plan(both, { perSecond: 10 }))
  t.ok(near(byMachine.doneAt, 20_000), `${byMachine.doneAt}`)
  for (const { held } of byMachine.sites) t.equal(held[0]?.gate, 'appliance')

  const brake = {
    percent: 0,
    began_at: 0,
    since: 0,
    until: 30 * minute,
    waits: 1,
    per_minute: 60,
    step_ms: 15 * minute,
    wait_ms: 30 * minute,
    cause: 'blocked',
    why: 'it blocked',
  } as const
  const braked = site({ mails: 600, sources: [{ name: 'default', learned: undefined, brake }] })
  const [waits] = await courses(plan([braked]))
  // It waits for 30 minutes; a tenth for 15 lets 90 go, a quarter 225, and half of it 285 of 450.
  t.ok(near(waits?.doneAt ?? 0, 69.5 * minute), `${(waits?.doneAt ?? 0) / minute}`)
  t.match(waits?.held[0], { gate: 'brake', why: /it blocked/ })
})

t.test('a million recipients', async (t) => {
  const began = performance.now()
  const many = Array.from({ length: 80 }, (_, i) =>
    site({
      key: `s${i}`,
      mails: 12_500,
      attemptMs: 100,
      policy: { ...site({}).policy, connections: 10, initialConnections: 10 },
    }),
  )
  const { doneAt } = await runRehearsal(plan(many))
  t.comment(`${Math.round(performance.now() - began)} ms`)
  // This machine sends 1,000 a second.
  t.ok(near(doneAt, 1_000_000), `${doneAt}`)
})

t.test('what is sent ends within a tenth of what was said', async (t) => {
  const rates = { quick: 30, slow: 12 }
  const clock = new FakeClock()
  const names = Object.keys(rates) as (keyof typeof rates)[]
  const rig = await outboundRig(t, {
    clock,
    stopped: true,
    shaping: names
      .map(
        (name) =>
          `[providers.${name}]\nmx = ["mx.${name}.test"]\nmessages_per_minute = ${rates[name]}\n`,
      )
      .join(''),
    dns: Object.fromEntries(
      names.flatMap((name, i) => [
        [`mx.${name}.test`, { a: [`127.0.1.${i + 1}`] }],
        [`${name}.test`, { mx: [{ preference: 10, exchange: `mx.${name}.test` }] }],
      ]),
    ),
  })
  const plans = loadPlans(packageFile('config/plans.toml'))
  await rig.store.write((tx) => setMarketingPlan(tx, rig.accountId, plans.marketing.at(-1) ?? null))
  for (const [i] of names.entries()) {
    let n = 0
    // Every tenth mail is put off once.
    const mail = () => (++n % 10 === 0 ? '451 4.3.2 busy' : '250 ok')
    await fakeMx(t, { host: `127.0.1.${i + 1}`, port: rig.mx.port, mail })
  }
  const mails = 60
  for (let i = 0; i < mails; i++) {
    for (const name of names) await rig.send({ to: `c${i}@${name}.test`, type: 'marketing' })
  }
  const data = loadShaping([packageFile('config/shaping.toml'), join(rig.dataDir, 'shaping.toml')])
  const said = await runRehearsal(
    plan(
      names.map((name) =>
        site({
          key: name,
          mails,
          policy: policyFor(data, { ...usual, key: name, provider: name }),
          attemptMs: 50,
          deferred: 0.1,
        }),
      ),
      { startsAt: clock.now(), retries: [5 * minute, 10 * minute] },
    ),
  )
  const began = clock.now()
  await rig.start()
  for (let step = 0; step < 500; step++) {
    await clock.advance(2_000)
    // Over a server a claim takes longer than a turn.
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      await rig.store.write(async () => {})
    }
    await rig.eventually(async () => (await leased(rig)) === 0)
    const left = await rig.store.read.selectFrom('queue').select('id').limit(1).execute()
    if (left.length === 0) break
  }
  for (const name of names) {
    const { last } = await rig.store.read
      .selectFrom('deliveries')
      .select(({ fn }) => fn.max('ended_at').as('last'))
      .where('recipient', 'like', `%@${name}.test`)
      .executeTakeFirstOrThrow()
    const took = Number(last) - began
    const expected = (said.sites.find(({ key }) => key === name)?.doneAt ?? 0) - began
    t.ok(near(expected, took), `${name}: ${expected} ms said, ${took} ms it took`)
  }
})
