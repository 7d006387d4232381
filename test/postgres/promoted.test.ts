// Thorough, turn 3: a standby that takes the place of a server that is lost, with all that was committed and without the last of it.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { fakeMx } from '../support/fake-mx.js'
import { shapedTo } from '../support/outbound.js'
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres.js'
import { cliEntry, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

const skip = noPostgres ?? false

t.test('a synchronous standby has all that was answered', { skip }, async (t) => {
  const { primary, standby, mx, posthorn, send, run, ask } = await pairOf(t)
  // From now on a commit waits for the other one.
  await ask(primary, 'postgres', "alter system set synchronous_standby_names = '*'")
  await ask(primary, 'postgres', 'select pg_reload_conf()')
  const server = await posthorn()
  const [accepted, refused] = [new Set<string>(), new Set<number>()]
  let isOver = false
  const client = async (name: number) => {
    for (let n = 0; !isOver; n++) {
      const answer = await send(server.url, `r${name}-${n}@d${n % 5}.test`)
      if (answer.status === 200) accepted.add(((await answer.json()) as { id: string }).id)
      else refused.add(answer.status)
      if (answer.status !== 200) await pause(100)
    }
  }
  const clients = [0, 1, 2, 3].map(client)
  await until(() => accepted.size >= 100)
  primary.crash()
  await until(() => refused.size > 0)
  standby.promote()
  const before = accepted.size
  await until(() => accepted.size >= before + 100)
  isOver = true
  await Promise.all(clients)
  t.same([...refused], [503], 'who was not answered 200 was told to come again')
  await mx.waitForMessages(accepted.size, 60_000)
  await until(async () => (await ask(standby, 'mail', 'select 1 from queue')).rowCount === 0)
  const { rows } = await ask(standby, 'mail', "select id from emails where status = 'delivered'")
  const delivered = new Set(rows.map(({ id }) => id))
  t.same(
    [...accepted].filter((id) => !delivered.has(id)),
    [],
    `all of ${accepted.size} are there`,
  )
  t.match(run('status').stdout, /queue/i)
  await server.kill('SIGTERM')
})

t.test('a standby that lacks the last commits stops what would send twice', { skip }, async (t) => {
  const { primary, standby, mx, posthorn, send, run, ask } = await pairOf(t)
  const server = await posthorn()
  t.equal((await send(server.url, 'kept@d1.test')).status, 200)
  await mx.waitForMessages(1, 30_000)
  await until(
    async () =>
      (await ask(standby, 'mail', "select 1 from emails where status = 'delivered'")).rowCount ===
      1,
  )
  await ask(standby, 'postgres', "alter system set primary_conninfo = ''")
  await ask(standby, 'postgres', 'select pg_reload_conf()')
  await until(
    async () =>
      (await ask(standby, 'postgres', 'select 1 from pg_stat_wal_receiver')).rowCount === 0,
  )
  t.equal((await send(server.url, 'lost@d1.test')).status, 200)
  await mx.waitForMessages(2, 30_000)
  // Some signs of life more, which the other one has not got either.
  await pause(5_000)
  primary.crash()
  standby.promote()
  t.equal((await server.exited).code, 78)
  t.match(server.log(), /went back by/)
  t.match(run('serve', '--json').stderr, /went back by/)
  t.equal(run('database', 'accept', '--held').status, 0)
  const second = await posthorn()
  t.equal((await send(second.url, 'new@d1.test')).status, 200)
  await mx.waitForMessages(3, 30_000)
  const to = mx.messages.flatMap(({ to }) => to)
  t.same(to, ['kept@d1.test', 'lost@d1.test', 'new@d1.test'], 'nothing came twice')
  await second.kill('SIGTERM')
})

/** A server with a standby, and an appliance that knows both. */
async function pairOf(t: Parameters<typeof startPostgres>[0]) {
  const primary = await startPostgres(t)
  const ask = async (server: PostgresServer, database: string, text: string) => {
    const client = new pg.Client(`${server.url}/${database}`)
    await client.connect()
    return await client.query(text).finally(() => client.end())
  }
  await ask(primary, 'postgres', 'create database mail')
  const standby = await startPostgres(t, { standbyOf: primary })
  const env = {
    POSTHORN_STORE_URL: `postgres://posthorn@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/mail`,
    POSTHORN_STORE_TRUST_DURABILITY: 'true',
  }
  const dataDir = makeTempDir(t)
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [cliEntry, ...args, '--data', dataDir], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
  const made = run('init', '--sandbox', '--json')
  t.equal(made.status, 0, made.stderr)
  const { apiKey } = JSON.parse(made.stdout)
  const mx = await fakeMx(t)
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\nthreads = 1\nwarm_up = "off"\n` +
      `[http.rate_limit]\nrequests = 0\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n` +
      `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n`,
  )
  writeFileSync(join(dataDir, 'shaping.toml'), shapedTo({}))
  const send = (url: string, to: string) =>
    fetch(`${url}/v1/emails/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'a@example.test', to, subject: 'Hello', html: '<p>Hello' }),
    })
  return { primary, standby, mx, run, ask, send, posthorn: () => serve(t, dataDir, env) }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const until = (holds: () => Promise<boolean> | boolean) =>
  eventually(async () => await holds(), 60_000)
