// Thorough: a whole appliance that reads new limits while it delivers.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { jsonOf } from '../cli/run.js'
import { type FakeMx, fakeMx } from '../support/fake-mx.js'
import { shapedTo } from '../support/outbound.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.test('queue show names the gate, and SIGHUP opens it with other limits', async (t) => {
  const mx = await fakeMx(t, { rcpt: 'hang' })
  const { dataDir, shaping, posthorn, send } = await start(t, mx, shapedTo({ connections: 2 }))
  const id = await send(6)
  // Two threads share two connections, one each; one domain is one thread's.
  await mx.waitUntil(() => mx.sessions.length === 1)
  const shown = await jsonOf<{ why: { gate: string; says: string } }[]>(t, [
    'queue',
    'show',
    id,
    '--json',
    '--data',
    dataDir,
  ])
  const gates = shown.map(({ why }) => why.gate)
  t.same(gates.sort(), [
    'connections',
    'connections',
    'connections',
    'connections',
    'connections',
    'in-flight',
  ])
  t.match(shown.find(({ why }) => why.gate === 'connections')?.why.says, /fake: 1 at once/)

  writeFileSync(shaping, shapedTo({ connections: 8 }))
  posthorn.process.kill('SIGHUP')
  await mx.waitUntil(() => mx.sessions.length === 4)

  // A bad file changes nothing, and the appliance goes on.
  writeFileSync(shaping, 'connections =')
  posthorn.process.kill('SIGHUP')
  while (!/The new file is not used/.test(posthorn.log())) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.equal((await fetch(posthorn.url)).status, 200)
  t.equal(mx.sessions.length, 4)
})

t.test('queue retry tries a suspended site at once, without a restart', async (t) => {
  const mx = await fakeMx(t, { mail: '421 4.7.0 [TSS04] later' })
  const rule = 'name = "T"\npattern = "TSS04"\naction = "suspend"\nfor = "2h"\n'
  const tables = `${shapedTo()}[[providers.fake.automation]]\n${rule}`
  const { dataDir, posthorn, send } = await start(t, mx, tables)
  await send(3)
  while (!/suspend/.test(posthorn.log())) await new Promise((resolve) => setTimeout(resolve, 20))
  mx.change({ mail: '250 ok' })
  // A try that is under way hears the old answer yet, and is left alone: as the command says, it is run again then.
  const retry = ['queue', 'retry', '--domain', 'one.test', '--data', dataDir]
  while ((await jsonOf<{ inFlight: number }>(t, retry)).inFlight > 0) {}
  await mx.waitForMessages(3)
})

/** An appliance with two threads whose mail all comes to the fake MX. */
async function start(t: Test, mx: FakeMx, tables: string) {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\n` +
      `threads = 2\nwarm_up = "off"\nshutdown_grace = "0s"\n` +
      `[http.private]\nport = 0\n[http.public]\nport = 0\nhost = "127.0.0.1"\n` +
      `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n` +
      `[dns.static."mx.test"]\na = ["127.0.0.1"]\n`,
  )
  const shaping = join(dataDir, 'shaping.toml')
  writeFileSync(shaping, tables)
  const posthorn = await serve(t, dataDir, {})
  const send = async (recipients: number) => {
    const to = Array.from({ length: recipients }, (_, i) => `r${i}@one.test`)
    const response = await fetch(`${posthorn.url}/v1/emails/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'a@example.test', to, subject: 'x', html: 'x' }),
    })
    return ((await response.json()) as { id: string }).id
  }
  return { dataDir, shaping, posthorn, send }
}
