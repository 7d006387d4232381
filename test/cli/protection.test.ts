import t from 'tap'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('complaints that nothing proves are shown apart', async (t) => {
  const { run, json, data } = await openPlace(t)
  const { id } = await json<{ id: string }>('account', 'create', 'City')
  const store = await openTestStore(t, { dataDir: data, slot: 14 })
  const hour = Math.floor(Date.now() / 3_600_000)
  const counted = { recipients: 300, bounces: 0, complaints: 1, unproved: 4 }
  const marketing = { marketing_recipients: 0, marketing_bounces: 0, marketing_complaints: 0 }
  await store.write((tx) =>
    tx
      .insertInto('protection_hours')
      .values({ account_id: id, hour, ...counted, ...marketing })
      .execute(),
  )
  const { stdout } = await run('account', 'protection', 'City')
  t.match(stdout, /^All mail +300 recipients, 0 bounced \(0%\), 1 complained \(0\.33%\)$/m)
  t.match(stdout, /^Unproved +4 more complaints, from no known feedback loop: in no rate$/m)
  t.match(await json('account', 'protection', 'City'), { totals: counted })
})

t.test('an account is paused by hand, looked at and cleared', async (t) => {
  const { run, json, refused } = await openPlace(t)
  const { id } = await json<{ id: string }>('account', 'create', 'City')
  t.match((await run('account', 'audit')).stdout, 'Nobody was warned or paused yet')
  const none = { recipients: 0, bounces: 0, complaints: 0 }
  const pause = ['account', 'pause', 'City']
  t.match(await json(...pause, '--marketing', '--reason', 'bounce', '--note', 'a rented list'), {
    id,
    name: 'City',
    paused: null,
    marketingPaused: 'bounce',
    providers: [],
    warnedAt: { bounce: null, complaint: null },
    totals: { ...none, marketing: none },
  })
  await refused(/It is paused already, because of bounces/, ...pause, '--marketing')
  t.match((await run(...pause)).stdout, 'All mail of "City" is paused; what is queued waits.')
  const { stdout } = await run('account', 'protection', 'City')
  t.match(stdout, /^Paused +complaint\nMarketing paused +bounce\nWarned +no$/m)
  t.match(stdout, /^Counted over +7 days, since the last clearing$/m)
  t.match(stdout, /^All mail +0 recipients, 0 bounced \(0%\), 0 complained \(0%\)$/m)
  t.match((await run('account', 'unpause', id)).stdout, /^"City" may send again\./)
  await refused(/It is not paused/, 'account', 'unpause', 'City')
  const audit = (await run('account', 'audit', 'City')).stdout
  for (const line of [
    /^WHEN +ACCOUNT +WHAT +WHY +BOUNCES +COMPLAINTS +OF +WHO +NOTE$/m,
    /UTC +City +cleared +complaint +0 +0 +0 +\S+.*\n.* paused +complaint .*\n/,
    /UTC +City +marketing paused +bounce +0 +0 +0 +\S.* a rented list$/m,
  ]) {
    t.match(audit, line)
  }
})
