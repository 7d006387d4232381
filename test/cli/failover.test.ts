import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('the operator sees which way mail goes and says which', async (t) => {
  const { data, run, json, refused } = await openPlace(t)
  t.match((await run('failover')).stdout, /none: there is only the primary way/)
  await refused(/There is no smart host; \[\[outbound/, 'failover', 'force')

  const host = '[[outbound.failover.smart_hosts]]\nhost = "relay.test"\ntls = "implicit"\n'
  appendFileSync(join(data, 'posthorn.toml'), host)
  const forced = await run('failover', 'force', 'Google')
  t.match(forced.stdout, /^Mail to Google goes by the smart hosts\./)
  t.match(forced.stderr, /^What waits.*posthorn queue retry.*\n$/, 'nothing else')
  const misspelt = await run('failover', 'force', 'gogle')
  t.match(misspelt, {
    status: 0,
    stderr: /^note: "gogle" is not a site or domain that is known here/,
  })
  t.match((await run('failover', 'auto', 'gogle')).stderr, 'Forgotten of gogle: the order to force')
  t.match(await json('failover', 'forbid'), [
    { scope: '*', orders: 'forbid' },
    { scope: 'google', orders: 'force', since: /^20/ },
  ])
  const status = (await run('failover', 'status')).stdout
  t.match(status, /Smart hosts +relay\.test port 465 \(implicit\)/)
  t.match(status, /All mail +the primary way: the other is forbidden by the operator/)
  t.match(status, /google +20.+ UTC +the primary way: the other is forbidden for all mail/)
  t.match(status, /Do they work +.* in the log/)
  t.match(await json('failover', 'auto', 'google'), [{ scope: '*', orders: 'forbid' }])
  await run('failover', 'force', 'outlook')
  t.match(await run('failover', 'auto'), {
    stdout: /^All mail goes the primary way/,
    stderr:
      'Forgotten of all mail: the order to forbid\nForgotten of outlook: the order to force\n',
  })
  t.same(await json('failover', 'auto'), [])
})

t.test('config check finds a smart host that would fail in an incident', async (t) => {
  const { data, run, refused } = await openPlace(t)
  const settings = join(data, 'posthorn.toml')
  const host = '[[outbound.failover.smart_hosts]]\nhost = "relay.test"\nuser = "u"\n'
  appendFileSync(settings, `${host}password_file = "${data}/password"\n`)
  await refused(/Cannot read the password for relay\.test: .*no such file/, 'config', 'check')
  appendFileSync(join(data, 'password'), 'secret\n')
  // Of the smart host nothing; the settings' addresses are not this machine's.
  const stderr = /^(warning: outbound\.source_addresses.*\n){2}$/
  t.match(await run('config', 'check'), { status: 0, stderr })
  appendFileSync(settings, `ca_file = "${data}/password"\n`)
  await refused(/has no certificate in PEM for relay\.test/, 'config', 'check')
})
