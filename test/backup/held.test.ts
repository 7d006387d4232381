// Thorough: backups that are put back in several ways.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { jsonOf, runCli } from '../cli/run.js'
import { fakeMx } from '../support/fake-mx.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(300_000)
const alone = { alone: true } as const

interface Held {
  deliveries: { recipient: string; held: { reason: string } | null }[]
}

for (const how of ['posthorn restore', 'tar'] as const) {
  t.test(`what waited in a backup, put back by ${how}, is sent twice by nobody`, async (t) => {
    const folder = makeTempDir(t)
    const [data, to, dir] = ['data', 'new', 'backups'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    const { apiKey } = initSandbox(data)
    // At first the receiver puts everything off, so that it waits when the backup is made.
    const mx = await fakeMx(t, { rcpt: '450 4.2.0 later' })
    writeFileSync(
      join(data, 'posthorn.toml'),
      `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\nwarm_up = "off"\n` +
        `threads = 1\n[outbound.retry.transactional]\nschedule = ["1s"]\n` +
        `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n`,
    )
    const first = await serve(t, data, {})
    const post = async (url: string, body: object) => {
      const response = await fetch(`${url}/v1/emails/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from: 'a@example.test', subject: 'One', html: '<p>x</p>', ...body }),
      })
      t.equal(response.status, 200)
    }
    const names = Array.from({ length: 10 }, (_, i) => `r${i}@one.test`)
    for (const to of names) await post(first.url, { to })
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    await post(first.url, { to: 'tomorrow@one.test', scheduledAt })
    const { file } = await jsonOf<{ file: string }>(t, ['backup', dir, '--data', data], alone)

    // It goes on: all of it arrives after the backup was made.
    mx.change({ rcpt: '250 2.1.5 ok' })
    // The site is suspended by then: one message tries it now, the others follow.
    const retried = await runCli(['queue', 'retry', '--all', '--data', data], alone)
    t.match(retried, { status: 0, stdout: /due now/ })
    const arrived = () => mx.messages.flatMap(({ to }) => to)
    await mx.waitForMessages(names.length, 60_000)
    t.same([...arrived()].sort(), [...names].sort())
    await first.kill('SIGKILL')

    if (how === 'tar') {
      spawnSync('mkdir', ['-p', to])
      spawnSync('tar', ['xf', file, '-C', to])
      writeFileSync(join(to, 'posthorn.toml'), readFileSync(join(to, 'data', 'posthorn.toml')))
    } else {
      t.equal((await runCli(['restore', file, '--to', to], alone)).status, 0)
    }
    const second = await serve(t, to, {})
    t.match(second.log(), /was restored from a backup/)
    await post(second.url, { to: 'new@one.test' })
    await mx.waitUntil(() => arrived().includes('new@one.test'), 60_000)
    t.same([...arrived()].sort(), [...names, 'new@one.test'].sort(), 'new mail goes, old waits')
    const held = await jsonOf<Held>(t, ['queue', 'held', '--data', to])
    t.same(
      held.deliveries.map((one) => one.recipient).sort(),
      [...names, 'tomorrow@one.test'].sort(),
    )
    t.match(
      held.deliveries[0]?.held?.reason,
      /^restored from a backup of 20.+ UTC; it may have been sent/,
    )
    // A later start is one like others.
    await second.kill('SIGTERM')
    const all = await runCli(['queue', 'release', '--all', '--data', to], alone)
    t.match(all.stdout, /^11 deliveries are released/)
    const third = await serve(t, to, {})
    t.notMatch(third.log(), /was restored from a backup/)
    await mx.waitForMessages(2 * names.length + 1, 60_000)
    t.same([...arrived()].sort(), [...names, ...names, 'new@one.test'].sort(), 'by the operator')
    await third.kill('SIGTERM')
  })
}
