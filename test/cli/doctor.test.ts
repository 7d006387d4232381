import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('posthorn doctor tells what is wrong and the fix, a line each', async (t) => {
  const { run } = await openPlace(t)
  const { status, stdout, stderr } = await run('doctor')
  t.match({ status, stderr }, { status: 1, stderr: '' })
  t.match(stdout, /^fail {2}ptr {2}192\.0\.2\.7: leads to nothing\n {6}fix: .*PTR/m)
  t.match(stdout, /^ {6}fix: publish mail\.appliance\.test\. 3600 IN A 192\.0\.2\.7$/m)
  t.match(stdout, /^warn {2}domain {2}none: no sending domain yet$/m)
  t.match(stdout, /^\? {5}blocklist {2}192\.0\.2\.7: not checked: could not ask zen/m)
  t.match(stdout, /\n\n\d+ ok, \d+ to look at, \d+ to fix, \d+ not checked\n$/)
  const json = await run('doctor', '--json')
  t.equal(json.status, 1)
  const answer = JSON.parse(json.stdout)
  t.match(answer, { ok: false, route: 'direct' })
  t.match(
    answer.findings.find(({ check }: { check: string }) => check === 'disk'),
    { subject: /data$/, state: /ok|warn/, found: /GiB free$/ },
  )
})

t.test('posthorn doctor says once that the DNS is silent', async (t) => {
  const { run, data } = await openPlace(t)
  // Nobody listens there.
  const settings = `[outbound]
helo_name = "mail.appliance.test"
[dns]
servers = ["127.0.0.1:9"]
timeout = "200ms"
`
  writeFileSync(join(data, 'posthorn.toml'), settings)
  const { status, stdout } = await run('doctor')
  t.equal(status, 1)
  t.match(stdout, /^fail {2}dns {2}127\.0\.0\.1:9: does not answer \(/)
  t.match(stdout, /^\? {5}helo {2}mail\.appliance\.test: not checked: needs the DNS$/m)
  t.notMatch(stdout, /^fail {2}(helo|ptr|outbound-port|listener)/m)
  const { findings } = JSON.parse((await run('doctor', '--json')).stdout)
  t.match(
    findings.find(({ check }: { check: string }) => check === 'outbound-port'),
    { state: 'unchecked', found: 'needs the DNS' },
  )
})
