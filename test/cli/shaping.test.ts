import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { claimRation, type Learned, saveLearned } from '../../src/outbound/index.js'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(120_000)

const records = `
[dns.static."gmail.test"]
mx = [{ preference = 5, exchange = "aspmx.l.google.com" }, { preference = 50, exchange = "mx.backup.test" }]
[dns.static."aspmx.l.google.com"]
a = ["8.8.8.8"]
[dns.static."mx.backup.test"]
a = ["8.8.8.9"]
[dns.static."small.test"]
mx = [{ preference = 5, exchange = "mx2.small.test" }]
[dns.static."mx2.small.test"]
a = ["8.8.8.10"]
[dns.static."silent.test"]
mx = [{ preference = 0, exchange = "." }]
`

t.test('shaping show tells what applies, from where, and what was learned', async (t) => {
  const { run, json, data } = await openPlace(t)
  appendFileSync(join(data, 'posthorn.toml'), records)
  const fresh = await run('shaping', 'show', 'gmail.test')
  t.equal(fresh.status, 0, fresh.stderr)
  t.match(fresh.stdout, /^Site +google$/m)
  t.match(fresh.stdout, /^MX +5 aspmx\.l\.google\.com, 50 mx\.backup\.test$/m)
  t.match(fresh.stdout, /^connections +5 +\/.*\/config\/shaping\.toml \[providers\.google\]$/m)
  t.match(fresh.stdout, /^messages_per_minute +6,000 +\/.*\[default\]$/m)
  t.match(fresh.stdout, /^tls +required +/m)
  t.match(fresh.stdout, /^unusual rate +4 +2 in 1h +slow down to 10 a minute +30m +/m)
  t.match(fresh.stdout, 'Warm-up: no address has sent anything yet')
  t.match(
    fresh.stdout,
    'Nothing is written of this site: all is as above, but for the last 30 seconds',
  )
  const small = await run('shaping', 'show', 'small.test')
  t.match(small.stdout, /^Site +mx#\.small\.test\nProvider +-$/m)
  t.match(small.stdout, 'It begins with 2 connections and earns more by deliveries.')
  const each = 'Each source address has these limits for itself, and there are 2; after a rest '
  t.match(small.stdout, `${each}a second's worth may go at once.`)

  const own = join(data, 'shaping.toml')
  writeFileSync(
    own,
    '[providers.google]\nconnections = 3\n[domains."gmail.test"]\ntls = "opportunistic"',
  )
  const store = await openTestStore(t, { dataDir: data })
  const now = systemClock.now()
  const learned: Learned = {
    connections: 2,
    suspension: { until: now + 60_000, why: 'Its servers do not answer', by: 'connection' },
    active: [],
  }
  const row = { site: 'google for gmail.test', source: '192.0.2.7', learned }
  await store.write(async (tx) => {
    await saveLearned(tx, { changed: [row], gone: [] }, { thread: 0, now })
    await claimRation(tx, '192.0.2.7', { klass: 0, share: 0.05, now })
    await claimRation(tx, '192.0.2.99', { klass: 0, share: 0.05, now })
  })
  const { stdout } = await run('shaping', 'show', 'gmail.test')
  t.match(stdout, /^Site +google for gmail\.test$/m)
  t.ok(stdout.includes(`${own} [providers.google]`))
  t.match(stdout, /^connections +3 /m)
  t.match(stdout, /^tls +opportunistic +.*\[domains\."gmail\.test"\]$/m)
  t.match(stdout, /^192\.0\.2\.7 +day 1 of 16 +3 of 50 +20/m)
  t.match(stdout, 'As they are handed out to the sending threads')
  t.notMatch(stdout, '192.0.2.99', 'an address that is not configured')
  t.match(stdout, /^192\.0\.2\.7 +0 +2 +suspended until .* UTC: Its servers do not answer +20/m)
  t.match(await json('shaping', 'show', 'gmail.test'), {
    site: 'google for gmail.test',
    provider: 'google',
    policy: { connections: 3, from: { connections: `${own} [providers.google]` } },
    sources: [{ address: '192.0.2.7', rampDay: 1, limit: 50, sent: 3 }],
    learned: [{ thread: 0, learned }],
  })
  const settings = join(data, 'posthorn.toml')
  const off = readFileSync(settings, 'utf8').replace('[outbound]', '[outbound]\nwarm_up = "off"')
  writeFileSync(settings, off)
  const without = (await run('shaping', 'show', 'gmail.test')).stdout
  t.match(without, /^Warm-up is off$/m)
  t.notMatch(without, /day 1 of 16/)
})

t.test('a domain without a site and a bad file are told', async (t) => {
  const { run, refused, data } = await openPlace(t)
  appendFileSync(join(data, 'posthorn.toml'), records)
  t.match(await run('shaping', 'show', 'silent.test'), {
    status: 1,
    stdout: 'silent.test has no site: it takes no mail (null MX)',
  })
  t.match(await run('shaping', 'show', 'nowhere.test'), { status: 1, stdout: /does not exist/ })
  await refused(/"a b" is not a domain name/, 'shaping', 'show', 'a b')
  await refused(/"sdf.." is not a domain name/, 'shaping', 'show', 'sdf..')
  const own = join(data, 'shaping.toml')
  writeFileSync(own, '[default]\nconnections = 5')
  t.match(await run('config', 'check'), { status: 0, stdout: `${own} is good` })
  writeFileSync(own, '[default]\nconnections = "many"')
  const problem =
    /Bad shaping .*\n {2}\[default\]: connections: "many" given, expected a whole number/
  await refused(problem, 'config', 'check')
  const shown = await run('shaping', 'show', 'small.test')
  t.match(shown, { status: 1, stderr: problem, stdout: /^connections +10 +\/.*config/m })
  t.match(shown.stderr, 'a running appliance keeps what it has read before')
})
