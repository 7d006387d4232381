import t, { type Test } from 'tap'
import { applianceAccountId, createAccount, listAccounts } from '../../src/accounts/index.js'
import { protectionChores } from '../../src/app/protection.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { joinBacklog, makeBacklogMemory, type StreamDue } from '../../src/deliveries/index.js'
import { addDomain } from '../../src/domains/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { pauseByOperator } from '../../src/protection/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

/** The chores over an account that an operator has paused, run by hand. */
async function openChores(t: Test, env: Record<string, string>, domains: readonly string[]) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const config = loadConfig({ env })
  const { id: accountId } = await createAccount({ store, clock }, 'Books & more')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  for (const name of domains) {
    await addDomain({ store, clock, key }, accountId, name, { trust: true })
    await clock.advance(1_000)
  }
  const order = { accountId, who: 'ada', note: null, now: clock.now(), settings: config.protection }
  const pause = { ...order, reason: 'bounce', marketing: false } as const
  await store.write((tx) => pauseByOperator(tx, pause))
  const lines: string[] = []
  const note = (level: string) => (_fields: object, text: string) =>
    void lines.push(`${level} ${text}`)
  const log: Log = { ...silentLog, warn: note('warn'), error: note('error') }
  const gauges: Record<string, number> = {}
  const meter = {
    ...silentMeter,
    gauge: (name: string, labels: object, value: number) => {
      gauges[[name, ...Object.values(labels)].join(' ')] = value
    },
  }
  const rings: StreamDue[] = []
  const ring = (due: readonly StreamDue[]) => void rings.push(...due)
  const backlog = joinBacklog(makeBacklogMemory())
  const chores = protectionChores({ store, clock, config, log, meter, ring, backlog })
  return {
    ...{ store, lines, gauges, rings, backlog },
    run: async () => {
      for (const chore of chores) await chore.run(new AbortController().signal)
    },
    queued: () =>
      store.read
        .selectFrom('emails')
        .innerJoin('bodies', 'bodies.id', 'emails.body_id')
        .innerJoin('queue', 'queue.email_id', 'emails.id')
        .select(['from_header', 'subject', 'recipient', 'html', 'text', 'queue.account_id'])
        .execute(),
  }
}

const told = 'warn Posthorn: "Books & more" is paused: by ada'

t.test('a change is logged and mailed once, by an account that nothing pauses', async (t) => {
  const env = { POSTHORN_OPERATOR_NOTIFY: 'ops@example.org' }
  const { run, queued, ...seen } = await openChores(t, env, ['second.test', 'a.test'])
  await run()
  await run()
  const [mail, ...others] = await queued()
  t.same(others, [])
  t.match(mail, {
    ...{ account_id: applianceAccountId, recipient: 'ops@example.org' },
    ...{ from_header: 'Posthorn <postmaster@second.test>', text: /^By: +ada$/m },
    ...{ subject: 'Posthorn: "Books & more" is paused: by ada' },
  })
  t.match(mail?.html, /^<pre>"Books &#38; more" is paused/)
  t.same(seen.lines, [told])
  t.match(seen.rings, [{ lane: 'example.org', class: 0, accountId: applianceAccountId }])
  t.equal(seen.backlog.size, 1)
  t.same((await listAccounts(seen.store.read)).length, 1, 'and is in no list')
  t.same(seen.gauges, {
    'posthorn_accounts_paused all': 1,
    'posthorn_accounts_paused marketing': 0,
    posthorn_highest_bounce_ratio: 0,
    posthorn_highest_complaint_ratio: 0,
  })
})

t.test('the sender may be chosen, on a verified domain', async (t) => {
  const env = {
    POSTHORN_OPERATOR_NOTIFY: 'ops@example.org',
    POSTHORN_OPERATOR_FROM: 'alarm@a.test',
  }
  const chosen = await openChores(t, env, ['second.test', 'a.test'])
  await chosen.run()
  t.match(await chosen.queued(), [{ from_header: 'alarm@a.test' }])
  const without = await openChores(t, env, ['second.test'])
  await without.run()
  t.same(await without.queued(), [])
  const cannot = 'error operator.notify gets no mail: no verified domain can send it'
  t.same(without.lines, [cannot, told])
})

t.test('without an address it is logged alone', async (t) => {
  const chores = await openChores(t, {}, ['a.test'])
  await chores.run()
  await chores.run()
  t.same(await chores.queued(), [])
  t.same(chores.lines, [told])
})
