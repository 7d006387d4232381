import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findPlan, loadPlans } from '../../src/billing/index.js'
import { billingRoutes } from '../../src/billing/routes.js'
import { systemClock } from '../../src/clock/index.js'
import { OperatorError } from '../../src/errors/index.js'
import { openHttpServer } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTempDir } from '../support/store.js'

const installed = readFileSync('config/plans.toml', 'utf8')
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Loads the plans as installed with some of their text replaced. */
function load(t: Test, ...changes: [from: string | RegExp, to: string][]) {
  const file = join(makeTempDir(t), 'plans.toml')
  let content = installed
  for (const [from, to] of changes) {
    const changed = content.replace(from, to)
    if (changed === content) throw new Error(`Nothing to replace: ${from}`)
    content = changed
  }
  writeFileSync(file, content)
  return loadPlans(file)
}

t.test('the plans are those of decisions.md', async (t) => {
  const plans = loadPlans('config/plans.toml')
  t.same(
    plans.email.map((p) => [
      p.name,
      p.monthlyLimit,
      p.priceNaira,
      p.retentionDays,
      p.dailyLimit,
      p.domains,
      p.webhooks,
    ]),
    [
      ['Free', 3_000, 0, 7, 100, 1, false],
      ['Starter', 50_000, 15_000, 14, 1_666, 5, false],
      ['Growth', 200_000, 45_000, 30, null, 20, true],
      ['Scale', 1_000_000, 150_000, 60, null, null, true],
      ['Unlimited', null, 0, 90, null, null, true],
    ],
  )
  t.same(
    plans.marketing.map((p) => [p.name, p.contacts, p.monthlySendLimit]),
    [
      ['Marketing Free', 500, 2_000],
      ['Marketing Plus', 10_000, null],
      ['Marketing Pro', 100_000, null],
    ],
  )
  t.equal(plans.firstAccount.name, 'Unlimited')
  t.equal(plans.otherAccounts.name, 'Free')
  for (const plan of [...plans.email, ...plans.marketing]) {
    t.match(plan.id, uuid)
    t.equal(plan.paymentProviderPlanCode === null, plan.priceNaira === 0, plan.name)
  }
})

t.test('GET /v1/billing/plans answers anybody with the email plans', async (t) => {
  const plans = loadPlans('config/plans.toml')
  const server = await openHttpServer<never>({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock: systemClock,
  })
  billingRoutes(server.api, { plans })
  await server.listen()
  t.teardown(() => server.close(0))
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/billing/plans`)
  t.equal(response.status, 200)
  const body = (await response.json()) as { plans: Record<string, unknown>[] }
  t.same(Object.keys(body), ['plans'])
  t.same(body.plans[0], {
    id: plans.email[0]?.id,
    name: 'Free',
    monthlyLimit: 3_000,
    perHour: null,
    perMinute: null,
    receivedPerDay: 100,
    receivedPerHour: null,
    receivedMib: 20,
    priceNaira: 0,
    paymentProviderPlanCode: null,
    retentionDays: 7,
    features: ['3,000 emails a month', '100 emails a day', '1 sending domain', '7 days of logs'],
  })
  t.match(body.plans[1], { name: 'Starter', paymentProviderPlanCode: /^\S+$/ })
  t.match(body.plans[4], { name: 'Unlimited', monthlyLimit: 0, unlimited: true, priceNaira: 0 })
  t.equal(body.plans.length, 5)
})

t.test('what is wrong is named by plan, field, value and expectation', async (t) => {
  const cases: [from: string | RegExp, to: string, problem: string][] = [
    [
      'price_naira = 15_000',
      'price_naira = -1',
      'plan "Starter": price_naira: -1 given, expected a whole number from 0 to',
    ],
    ['price_naira = 15_000', '', 'plan "Starter": price_naira: nothing given, expected'],
    [
      'monthly_mails = 200_000',
      'monthly_mails = "lots"',
      'plan "Growth": monthly_mails: "lots" given, expected a whole number from 1 to 1000000000000, or "unlimited"',
    ],
    [
      'monthly_mails = 3_000',
      'monthly_mails = 29',
      'plan "Free": monthly_mails: 29 given, expected at least 30 with a daily cap',
    ],
    [
      'monthly_mails = 50_000',
      'monthly_mails = "unlimited"',
      'plan "Starter": daily_cap: true given, expected false, as the plan is unlimited',
    ],
    [
      'daily_cap = true',
      'daily_cap = 1',
      'plan "Free": daily_cap: 1 given, expected true or false',
    ],
    [
      'id = "019a9b10-0000-7000-8000-000000000003"',
      'id = "growth"',
      'plan "Growth": id: "growth" given, expected a UUID in lower case',
    ],
    [
      'id = "019a9b10-0000-7000-8000-000000000003"',
      'id = "019a9b10-0000-7000-8000-000000000101"',
      'plan "Marketing Free": id: "019a9b10-0000-7000-8000-000000000101" given, expected one that no other plan has',
    ],
    [
      'name = "Starter"',
      'name = "free"',
      'plan "free": name: "free" given, expected one that no other plan has',
    ],
    ['name = "Starter"', '', 'email plan 2: name: nothing given, expected a text of 1 to 100'],
    ['domains = 20', 'domains = 0', 'plan "Growth": domains: 0 given'],
    ['retention_days = 7', 'retention_days = 0', 'plan "Free": retention_days: 0 given'],
    [/features = .*/, 'features = [""]', 'plan "Free": features: [""] given, expected a list of'],
    [
      'webhooks = false',
      'web_hooks = false',
      'plan "Free": web_hooks: no such key; is webhooks meant? known: name,',
    ],
    ['contacts = 500', 'contacts = 0.5', 'plan "Marketing Free": contacts: 0.5 given'],
    [
      'first_account = "Unlimited"',
      'first_account = "None"',
      'defaults: first_account: "None" given, expected the name of an email plan',
    ],
    ['other_accounts = "Free"', '', 'defaults: other_accounts: nothing given'],
    ['[defaults]', '[defaults]\nthird = 1', 'defaults: third: no such key'],
    ['[defaults]', '[plans]\n[defaults]', '[plans]: no such table'],
  ]
  for (const [from, to, problem] of cases) {
    let message = ''
    try {
      load(t, [from, to])
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      message = error.message
    }
    t.match(message, /^Bad plans \(.*plans\.toml\):\n/, to)
    t.ok(message.includes(`\n  ${problem}`), `${problem}, not ${message}`)
  }
  t.throws(
    () => load(t, ['price_naira = 15_000', 'price_naira = 0.5'], ['domains = 20', 'domains = -1']),
    { message: /Starter.*\n.*Growth/ },
    'all at once',
  )
  t.throws(() => load(t, ['[defaults]', '[defaults']), { message: /is not valid TOML/ })
  t.throws(() => loadPlans('/nowhere/plans.toml'), { message: /Cannot read the plans/ })
  const empty = join(makeTempDir(t), 'plans.toml')
  writeFileSync(empty, '')
  t.throws(() => loadPlans(empty), { message: /email: expected at least one table \[\[email\]\]/ })
})

t.test('an operator names a plan by name in any case or by id', async (t) => {
  const { email } = loadPlans('config/plans.toml')
  t.equal(findPlan(email, ' growth ').name, 'Growth')
  t.equal(findPlan(email, '019A9B10-0000-7000-8000-000000000003').name, 'Growth')
  t.throws(() => findPlan(email, 'Marketing Free'), {
    name: 'OperatorError',
    message:
      'No plan "Marketing Free"; there are "Free", "Starter", "Growth", "Scale", "Unlimited"',
  })
})
