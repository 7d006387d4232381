// Thorough: two appliances, and a brake that comes on within ten seconds.
// Issue 'what operators and developers ask' 8: a brake outlives a kill -9 as it was.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { jsonOf } from '../cli/run.js'
import { eventually } from '../support/eventually.js'
import { fakeMx } from '../support/fake-mx.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

// Two appliances, and a look at the sites every ten seconds.
t.setTimeout(300_000)

t.test('a site that blocks is braked before a kill and after it, by the same row', async (t) => {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  const offered: string[] = []
  const mx = await fakeMx(t, {
    rcpt: (argument) => {
      const to = /<([^>]*)>/.exec(argument)?.[1] ?? argument
      offered.push(to)
      return to.startsWith('order') ? '250 ok' : '550 5.7.1 Your network is on our block list'
    },
  })
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\nwarm_up = "off"\n` +
      `[http.rate_limit]\nrequests = 0\n` +
      `[dns.static."grand.test"]\nmx = [{ preference = 10, exchange = "mx.grand.test" }]\n` +
      `[dns.static."mx.grand.test"]\na = ["127.0.0.1"]\n`,
  )
  writeFileSync(join(dataDir, 'shaping.toml'), '[providers.grand]\nmx = ["mx.grand.test"]\n')
  const send = async (url: string, names: string[], type: string) => {
    const emails = names.map((name) => ({
      type,
      from: 'News <news@example.test>',
      to: `${name}@grand.test`,
      subject: 'News',
      html: '<p>x</p>',
    }))
    const answer = await fetch(`${url}/v1/emails/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ emails }),
    })
    const said = await answer.text()
    if (answer.status !== 200) throw new Error(said)
  }
  const many = (of: string, count: number) => Array.from({ length: count }, (_, i) => `${of}${i}`)
  const brakes = async () => {
    const options = { env: { POSTHORN_DATA: dataDir } }
    return (await jsonOf<{ brakes: object[] }>(t, ['site', 'list'], options)).brakes
  }

  const first = await serve(t, dataDir, {})
  await send(first.url, many('early', 60), 'marketing')
  await eventually(async () => (await brakes()).length > 0, 60_000)
  await first.kill('SIGKILL')
  const before = await brakes()
  t.match(before, [{ site: 'grand', percent: 10 }])

  const second = await serve(t, dataDir, {})
  t.same(await brakes(), before, 'it is as it was')
  await send(second.url, many('late', 60), 'marketing')
  await send(second.url, many('order', 10), 'transactional')
  await eventually(async () => mx.messages.length === 10, 60_000)
  const late = offered.filter((to) => to.startsWith('late')).length
  t.ok(late < 30, `${late} of 60 were offered while the orders went`)
  t.same(await brakes(), before, 'and still is')
  t.equal(await second.kill('SIGTERM'), 0)
})
