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
  t.match(stdout, /\n\n\d+ ok, \d+ to look at, \d+ to fix\n$/)
  const json = await run('doctor', '--json')
  t.equal(json.status, 1)
  const answer = JSON.parse(json.stdout)
  t.match(answer, { ok: false, route: 'direct' })
  t.match(
    answer.findings.find(({ check }: { check: string }) => check === 'disk'),
    { subject: /data$/, state: /ok|warn/, found: /GiB free$/ },
  )
})
