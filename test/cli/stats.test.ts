import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { eventOf, openHappenings } from '../support/log-happenings.js'
import { databaseIn } from '../support/store.js'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('figures are shown as a table, and as JSON like the API', async (t) => {
  const { run, json, refused, data } = await openPlace(t)
  const store = await openStore({
    ...(await databaseIn(data)),
    clock: systemClock,
    turns: makeTurns(),
    slot: 15,
  })
  t.teardown(() => store.close())
  const logs = openHappenings({ store, clock: systemClock })
  const accountId = await logs.account('City', 'one.test')
  const copy = { id: 1, recipient: 'ann@gmail.com', remote: 'aspmx.l.google.com [192.0.2.1]' }
  const mail = {
    id: '00000000-0000-7000-8000-000000000001',
    accountId,
    domain: 'one.test',
    type: 'marketing' as const,
    broadcastId: null,
    tags: [{ name: 'plan', value: 'pro' }],
    copies: [copy],
    createdAt: Date.parse('2026-11-20T10:00:00Z'),
  }
  await logs.accept([mail])
  const opened = { type: 'opened', detail: { first: true } } as const
  await logs.happen([
    eventOf(mail, copy, 'delivered'),
    eventOf(mail, copy, opened.type, { at: mail.createdAt + 90_000_000, detail: opened.detail }),
  ])
  const days = ['--from', '2026-11-20', '--to', '2026-11-21']
  const { stdout } = await run('stats', ...days)
  t.match(stdout, /^2026-11-20 to 2026-11-21, UTC\nDAY +MAILS +ACCEPTED +DELIVERED/)
  t.match(
    stdout,
    /\n2026-11-20 +1 +1 +1 +0 +0 +0 +0 +0 +0\n2026-11-21 +0 +0 +0 +0 +0 +0 +0 +1 +0\n/,
  )
  t.match(stdout, /\ntotal +1 +1 +1 +0 +0 +0 +0 +1 +0\n$/)
  t.match((await run('stats', ...days, '--by', 'provider')).stdout, /\nGoogle +- +- +1 /)
  t.match((await run('stats', ...days, '--by', 'tag')).stdout, /\nplan:pro +1 +1 +1 /)
  t.match((await run('stats', ...days, '--by', 'broadcast')).stdout, /\n\(none\) +1 /)
  t.match(await json('stats', ...days, '--by', 'day,type', '--tag', 'plan:pro'), {
    from: '2026-11-20',
    to: '2026-11-21',
    groupBy: ['day', 'type'],
    upToDate: true,
    total: { mails: 1, delivered: 1, openedUnique: 1, rates: { delivery: 1, open: 1 } },
    groups: [
      { day: '2026-11-20', type: 'marketing', mails: 1 },
      { day: '2026-11-21', type: 'marketing', openedUnique: 1 },
    ],
  })
  t.match(await json('stats', ...days, '--domain', 'two.test'), { total: { mails: 0 } })
  await refused(/--from is not a day of the calendar/, 'stats', '--from', '2026-02-30')
  await refused(
    /Figures are not kept by provider and tag together/,
    ...['stats', '--by', 'tag', '--provider', 'Google'],
  )
  t.match(await run('stats', '--type', 'spam'), { status: 2 })
  t.match(await run('stats', '--limit', '0'), { status: 2 })
})
