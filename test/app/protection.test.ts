import t, { type Test } from 'tap'
import { createAccount, listAccounts } from '../../src/accounts/index.js'
import { protectionChores } from '../../src/app/protection.js'
import { loadConfig } from '../../src/config/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { openNotices } from '../../src/notices/index.js'
import { pauseByOperator } from '../../src/protection/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

/** The chores over an account that an operator has paused, run by hand. */
async function openChores(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const config = loadConfig({ env: {} })
  const { id: accountId } = await createAccount({ store, clock }, 'Books & more')
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
  const chores = protectionChores({ store, clock, config, log, meter })
  return {
    store,
    lines,
    gauges,
    run: async () => {
      for (const chore of chores) await chore.run(new AbortController().signal)
    },
    notices: () => openNotices(store.read),
  }
}

t.test('a change is logged and raised once', async (t) => {
  const { run, notices, lines, gauges, store } = await openChores(t)
  await run()
  await run()
  t.match(await notices(), [
    {
      kind: 'account-paused',
      severity: 'daily',
      count: 1,
      text: /^"Books & more" is paused: by ada\n/,
      fix: /posthorn account unpause /,
    },
  ])
  t.same(lines, ['warn "Books & more" is paused: by ada'])
  t.same((await listAccounts(store.read)).length, 1)
  t.same(gauges, {
    'posthorn_accounts_paused all': 1,
    'posthorn_accounts_paused marketing': 0,
    posthorn_highest_bounce_ratio: 0,
    posthorn_highest_complaint_ratio: 0,
  })
})
