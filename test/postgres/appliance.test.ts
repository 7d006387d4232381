// The whole appliance over PostgreSQL, as processes of their own: copied from SQLite, alone there, and through a crash.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { freePort } from '../support/free-port.js'
import { noPostgres, startPostgres } from '../support/postgres.js'
import { cliEntry, initSandbox, type Serving, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

const mail = { from: 'a@example.test', to: ['b@example.org'], subject: 'Hello', html: '<p>Hello' }

const send = async ({ url }: Serving, apiKey: string) =>
  await fetch(`${url}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(mail),
  })

const run = (dataDir: string, args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [cliEntry, ...args, '--data', dataDir], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })

t.test('an appliance over PostgreSQL', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  const ask = async (database: string, text: string) => {
    const client = new pg.Client(`${server.url}/${database}`)
    await client.connect()
    return await client.query(text).finally(() => client.end())
  }
  await ask('postgres', 'create database mail')
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir, { inFile: true })
  const url = `${server.url}/mail`
  // A host that is away is passed by.
  const hosts = url.replace('127.0.0.1', `127.0.0.1:${await freePort()},127.0.0.1`)
  const env = { POSTHORN_STORE_URL: hosts, POSTHORN_STORE_TRUST_DURABILITY: 'true' }

  await t.test('does not start on a part of a copy, which is gone on with', async (t) => {
    await ask('postgres', 'create database half')
    const half = `${server.url}/half`
    const broken = spawn(
      process.execPath,
      [cliEntry, 'database', 'copy', '--to', half, '--data', dataDir],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    // Who watches no terminal sees lines.
    for await (const chunk of broken.stderr) if (/^\w+: 100 %$/m.test(`${chunk}`)) break
    broken.kill('SIGKILL')
    if (broken.signalCode === null && broken.exitCode === null) await once(broken, 'exit')
    const onHalf = { POSTHORN_STORE_URL: half, POSTHORN_STORE_TRUST_DURABILITY: 'true' }
    for (const args of [['serve', '--json'], ['init'], ['account', 'list']]) {
      const refused = run(dataDir, args, onHalf)
      t.equal(refused.status, 78, args.join())
      t.match(refused.stderr, /has not ended. Go on with it: 'posthorn database copy --to/)
    }
    const elsewhere = run(makeTempDir(t), ['init', '--store', half])
    t.match(elsewhere.stderr, /has not ended/)
    const whole = run(dataDir, ['database', 'copy', '--to', half])
    t.equal(whole.status, 0, whole.stderr)
    t.equal(run(dataDir, ['account', 'list'], onHalf).status, 0)

    // Killed before it could note its end, and an appliance was started meanwhile.
    writeFileSync(join(dataDir, 'database.copying'), half.replace('posthorn@', ''))
    await ask('half', "update accounts set name = 'Other', created_at = created_at + 1")
    const differs = run(dataDir, ['database', 'copy', '--to', half])
    t.match(differs.stderr, /does not have what the file has .*Make a new, empty one/)
    t.notMatch(differs.stderr, /fault of Posthorn/)
  })

  await t.test('is copied from SQLite once, whole, unless that was the wrong place', async (t) => {
    const first = run(dataDir, ['database', 'copy', '--to', url])
    t.match(first.stderr, /was copied to .*'posthorn database copy --again/)
    const copied = run(dataDir, ['database', 'copy', '--again', '--to', url, '--json'])
    t.equal(copied.status, 0, copied.stderr)
    const told = JSON.parse(copied.stdout)
    t.ok(told.rows > 10)
    const { rows } = await ask('mail', 'select name from accounts')
    t.same(rows, [{ name: 'Sandbox' }])
    const cared = await ask('mail', "select reloptions::text from pg_class where relname = 'queue'")
    t.match(cared.rows, [{ reloptions: /autovacuum_vacuum_scale_factor=0\.01/ }])
    const again = run(dataDir, ['database', 'copy', '--to', url])
    t.match(again.stderr, /was copied to/)
    t.match(run(dataDir, ['account', 'create', 'Late']).stderr, /was copied to/)
    const old = run(dataDir, ['serve', '--json'])
    t.match(old.stderr, /was copied to postgres:\/\/127\.0\.0\.1.*serve --force/)
    t.equal(old.status, 78)
  })

  await t.test('has no use for a server that cannot keep every name', async (t) => {
    await ask('postgres', 'create database latin encoding latin1 template template0')
    const made = run(makeTempDir(t), ['init', '--store', `${server.url}/latin`])
    t.match(made.stderr, /encoding is LATIN1/)
    const missing = run(makeTempDir(t), ['init', '--store', `${server.url}/nobody`])
    t.match(missing.stderr, /does not exist; make it/)
    const secret = run(makeTempDir(t), ['init', '--store', 'postgres://a:geheim@127.0.0.1/b'])
    t.match(secret.stderr, /has a password/)
    t.notMatch(secret.stderr, /geheim/)
    const mistyped = run(makeTempDir(t), ['init', '--store', `${url}?sslmod=verify-full`])
    t.match(mistyped.stderr, /parameters of these: .*sslmode.*, and not one with sslmod=/)
    t.equal(mistyped.status, 2)
    const bySettings = { POSTHORN_STORE_URL: `${url}?sslmode=verify-ful` }
    t.match(
      run(makeTempDir(t), ['init'], bySettings).stderr,
      /store\.url.*one with sslmode=verify-ful/,
    )
    const scheme = run(makeTempDir(t), ['init', '--store', 'mysql://a:geheim@127.0.0.1/b'])
    t.match(scheme.stderr, /has to be an address such as "postgres:/)
    t.notMatch(scheme.stderr, /geheim/)
  })

  await t.test('does not trust a server that may lose what it answers', async (t) => {
    const { stderr, status } = run(dataDir, ['serve', '--json'], { POSTHORN_STORE_URL: url })
    t.match(stderr, /fsync is off.*store\.trust_durability/)
    t.equal(status, 78)
  })

  const first = await serve(t, dataDir, env)

  await t.test('refuses NUL in a filter, and keeps no password in what it shows', async (t) => {
    const found = await fetch(`${first.url}/v1/stats?tag=%00`, {
      headers: { authorization: `Bearer ${apiKey}` },
    })
    t.ok(found.status === 200 || found.status === 400 || found.status === 422, `${found.status}`)
    const secret = { POSTHORN_STORE_URL: url.replace('posthorn@', 'posthorn:geheim@') }
    const shown = run(dataDir, ['config', 'show'], secret)
    t.match(shown.stdout, 'postgres://…@127.0.0.1')
    t.notMatch(shown.stdout, 'geheim')
    const vacuum = run(dataDir, ['database', 'vacuum'], env)
    t.match(vacuum.stderr, /autovacuum/)
  })

  await t.test('takes mail, says 503 while its server is away, and takes it again', async (t) => {
    t.equal((await send(first, apiKey)).status, 200)
    server.crash()
    const began = performance.now()
    const refused = await send(first, apiKey)
    t.equal(refused.status, 503)
    t.ok(Number(refused.headers.get('retry-after')) > 0)
    t.ok(performance.now() - began < 10_000)
    t.equal((await fetch(`${first.url}/healthz`)).status, 200)
    server.start()
    let status = 0
    for (let tries = 0; status !== 200 && tries < 60; tries++) {
      status = (await send(first, apiKey)).status
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 500))
    }
    t.equal(status, 200)
    const { rows } = await ask('mail', 'select count(*)::int as mails from emails')
    t.same(rows, [{ mails: 2 }])
  })

  await t.test('is alone on its database', async (t) => {
    const other = makeTempDir(t)
    spawnSync('cp', ['-a', `${dataDir}/appliance.key`, `${dataDir}/posthorn.toml`, other])
    const second = run(other, ['serve', '--json'], env)
    t.equal(second.status, 1)
    t.match(second.stderr, /is held by the appliance on .*, which is alive/)
  })

  await t.test(
    'ends when another one has taken it, and does not go on with one that went back',
    async (t) => {
      // Also where it was away meanwhile.
      server.crash()
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      server.start()
      await ask('mail', 'update nodes set epoch = epoch + 1')
      t.equal((await first.exited).code, 1)
      t.match(first.log(), /The database is away.*\n?[\s\S]*was taken by another appliance/)
      await ask('mail', 'update nodes set beat = 0, held_until = 0')
      const back = run(dataDir, ['serve', '--json'], env)
      t.equal(back.status, 78)
      t.match(back.stderr, /went back by about \d+ seconds/)
      t.match(run(dataDir, ['account', 'create', 'Late'], env).stderr, /went back by/)
      t.match(
        run(dataDir, ['status'], env).stdout,
        /! The database postgres:.* went back by .*\n +If it is the primary of before, .*'posthorn database accept --held'/,
      )
      const soon = { POSTHORN_DOCTOR_TIMEOUT: '1s' }
      const examined = run(dataDir, ['doctor'], Object.assign(soon, env)).stdout
      t.match(
        examined,
        /database .* went back by .*\n +fix: If it is the primary of before, .*'posthorn database accept --held'/,
      )
      t.notMatch(examined, /what it has answered is on its disk/)
      t.equal(run(dataDir, ['database', 'accept'], env).status, 2)
      const both = run(dataDir, ['database', 'accept', '--held', '--lost'], env)
      t.match(both.stderr, /--held and --lost exclude each other/)
      t.match(run(dataDir, ['store', 'accept', '--held'], env).stdout, /holds what waits/)
      const again = await serve(t, dataDir, env)
      t.match(again.log(), /was restored from a backup: what waited in it is held/)
      await again.kill('SIGTERM')
    },
  )
})
