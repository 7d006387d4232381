import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { weeklyReport } from '../../src/app/weekly-report.js'
import { dayMs } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir, openTestStore } from '../support/store.js'

t.test('the week stands beside the one before, by account and by provider', async (t) => {
  const clock = new FakeClock()
  const dataDir = makeTempDir(t)
  const store = await openTestStore(t, { clock, dataDir })
  const { id } = await createAccount({ store, clock }, '<b>Library</b>')
  const today = Math.floor(clock.now() / dayMs)
  const none = Object.fromEntries(
    [
      'mails',
      'accepted',
      'suppressed',
      'relayed',
      'failed',
      'deferred',
      'complained',
      'complained_unproved',
      'unsubscribed',
      'opened',
      'opened_unique',
      'opened_machine',
      'clicked',
      'clicked_unique',
      'clicked_machine',
      'bounced_soft',
    ].map((name) => [name, 0]),
  )
  const row = (breakdown: string, key: string, day: number, answered: number) => ({
    ...none,
    account_id: id,
    domain: 'sender.test',
    type: 'transactional',
    breakdown,
    key,
    day,
    answered,
    delivered: answered - 1,
    bounced_hard: 1,
  })
  const rows = [
    row('broadcast', '', today - 1, 1_000),
    row('broadcast', '', today - 9, 500),
    row('provider', 'Google', today - 7, 600),
    row('provider', 'Google', today - 8, 300),
    row('provider', 'Google', today, 77),
    // Reports of the mail of the week before: nothing was sent since, but for a little by a smart host.
    { ...row('provider', 'late.test', today - 2, 0), delivered: 0, bounced_hard: 3 },
    {
      ...row('provider', 'relay.test', today - 2, 2),
      delivered: 0,
      relayed: 2,
      bounced_hard: 3,
      complained: 1,
    },
  ]
  await store.write((tx) =>
    tx
      .insertInto('figures')
      .values(rows as never)
      .execute(),
  )
  const config = loadConfig({ env: {} })
  const { annex, figures } = await weeklyReport({ store, clock, config, dataDir })
  t.match(figures, { answered: 1_000, delivered: 999 })
  t.match(annex.text, /^The week from 2026-11-14 to 2026-11-20$/m)
  t.match(annex.text, /^<b>Library<\/b> +1,000 +99\.9% +0\.10% +0\.00% +500$/m)
  t.match(annex.text, /^Google +600 +99\.8% +0\.17% +0\.00% +300$/m)
  t.match(annex.text, /^relay\.test +2 +0\.00% +100\.0% +50\.0% +0$/m, 'no share is over 100 %')
  t.match(annex.text, /^late\.test +0 +- +100\.0% +- +0$/m)
  t.match(
    annex.text, // An empty one has megabytes on a server.
    /^The database has 0\.0\d GiB, /m,
  )
  t.notMatch(annex.html, /<b>/)
})
