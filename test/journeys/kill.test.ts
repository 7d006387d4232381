import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fakeMx } from '../support/fake-mx.js'
import { shapedTo } from '../support/outbound.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

// 100 of them take four minutes: POSTHORN_TEST_KILLS=100 node dist/test/journeys/kill.test.js
const kills = Number(process.env.POSTHORN_TEST_KILLS ?? thoroughly(1, 6))
const threads = 2
const connections = 20
const domains = 8

t.test(`kill -9 at ${kills} moments under load: all arrives, little of it twice`, async (t) => {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  // Slow enough that the kills find mails in every stage.
  const mx = await fakeMx(t, { dot: { reply: '250 2.0.0 taken', delayMs: 15 } })
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\n` +
      `threads = ${threads}\nwarm_up = "off"\n` +
      `[outbound.retry.transactional]\nschedule = ["1s"]\n[http.rate_limit]\nrequests = 0\n` +
      `[http.private]\nport = 0\n[http.public]\nport = 0\nhost = "127.0.0.1"\n` +
      `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n` +
      `[dns.static."mx.test"]\na = ["127.0.0.1"]\n`,
  )
  writeFileSync(join(dataDir, 'shaping.toml'), shapedTo({ connections }))
  const acknowledged = new Set<string>()
  let next = 0
  for (let round = 0; round < kills; round++) {
    const posthorn = await serve(t, dataDir, {})
    let killed = false
    const send = async () => {
      while (!killed) {
        const i = next++
        const to = `r${i}@d${i % domains}.test`
        const mail = { from: 'a@example.test', to, subject: `Mail ${i}`, html: '<p>x</p>' }
        const response = await fetch(`${posthorn.url}/v1/emails/send`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(mail),
        }).catch(() => undefined)
        // A request that the kill cut off may or may not be on disk.
        if (response?.status === 200) acknowledged.add(to)
        else if (!killed) t.fail(`answered ${response?.status}`)
      }
    }
    const clients = Promise.all([send(), send(), send(), send()])
    const before = acknowledged.size
    while (acknowledged.size < before + 8) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 500))
    killed = true
    await posthorn.kill('SIGKILL')
    await clients
  }
  const last = await serve(t, dataDir, {})
  const arrived = new Map<string, string[]>()
  const hasAll = () => {
    arrived.clear()
    for (const { to, raw } of mx.messages) {
      const id = /^Message-ID: (.*)$/m.exec(raw.toString('latin1'))?.[1] ?? ''
      arrived.set(to[0] ?? '', [...(arrived.get(to[0] ?? '') ?? []), id])
    }
    return [...acknowledged].every((to) => arrived.has(to))
  }
  await mx.waitUntil(hasAll, 60_000).catch(() => {})
  t.equal(await last.kill('SIGTERM'), 0, 'a clean stop')
  t.ok(acknowledged.size >= kills * 8, `${acknowledged.size} were acknowledged`)
  t.same(
    [...acknowledged].filter((to) => !arrived.has(to)),
    [],
    'none is lost',
  )
  const doubles = mx.messages.length - arrived.size
  t.ok(doubles <= kills * connections, `${doubles} came twice`)
  t.ok(
    [...arrived.values()].every((ids) => new Set(ids).size === 1),
    'a repeat has the same Message-ID',
  )
})

t.test('SIGTERM ends open transactions in order: nothing comes twice', async (t) => {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  const mx = await fakeMx(t, { dot: { reply: '250 2.0.0 taken', delayMs: 300 } })
  const env = {
    POSTHORN_OUTBOUND_ROUTE: 'direct',
    POSTHORN_OUTBOUND_PORT: String(mx.port),
    POSTHORN_OUTBOUND_WARM_UP: 'off',
    POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true',
  }
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n`,
  )
  writeFileSync(join(dataDir, 'shaping.toml'), shapedTo({ connections: 2 }))
  const posthorn = await serve(t, dataDir, env)
  const to = Array.from({ length: 20 }, (_, i) => `r${i}@one.test`)
  const response = await fetch(`${posthorn.url}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: 'a@example.test', to, subject: 'x', html: 'x' }),
  })
  t.equal(response.status, 200)
  await mx.waitForMessages(1)
  t.equal(await posthorn.kill('SIGTERM'), 0)
  const first = mx.messages.length
  t.ok(first < 20, 'it did not wait for the whole queue')
  await serve(t, dataDir, env)
  await mx.waitForMessages(20)
  t.equal(new Set(mx.messages.map((m) => m.to[0])).size, 20)
  t.equal(mx.messages.length, 20)
})
