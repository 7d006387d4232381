// Thorough, turn 3: an appliance whose role, password, table and database are taken away in turn.
// While the server is there and refuses this appliance: its role, a table, its password, and in the end what it knew.
import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { fakeMx } from '../support/fake-mx.js'
import { noPostgres, startPostgres } from '../support/postgres.js'
import { cliEntry, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

// Two seconds, and what a loaded machine takes; it was four and more.
const turnsMs = 3_000

t.test('a server that refuses the appliance', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  const ask = async <Row extends pg.QueryResultRow>(database: string, text: string) => {
    const client = new pg.Client(`${server.url}/${database}`)
    await client.connect()
    return (await client.query<Row>(text).finally(() => client.end())).rows
  }
  const dataDir = makeTempDir(t)
  const passwordFile = join(makeTempDir(t), 'password')
  writeFileSync(passwordFile, 'one\n')
  await ask('postgres', "create role ph login password 'one'")
  await ask('postgres', 'create database mail owner ph')
  const [{ hba_file: hba = '' } = {}] = await ask<{ hba_file: string }>('postgres', 'show hba_file')
  const rules = `E'host all posthorn all trust\\nhost all ph all scram-sha-256'`
  await ask('postgres', `copy (select unnest(string_to_array(${rules}, E'\\n'))) to '${hba}'`)
  await ask('postgres', 'select pg_reload_conf()')
  const mx = await fakeMx(t, { dot: { reply: '250 ok', delayMs: 2_000 } })
  const env = {
    POSTHORN_STORE_URL: `postgres://ph@127.0.0.1:${server.port}/mail`,
    POSTHORN_STORE_PASSWORD_FILE: passwordFile,
    POSTHORN_STORE_TRUST_DURABILITY: 'true',
    POSTHORN_DOCTOR_TIMEOUT: '1s',
  }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [cliEntry, ...args, '--data', dataDir], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
  const told = (...args: string[]) =>
    new Promise<{ status: unknown; text: string }>((resolve) => {
      const given = [cliEntry, ...args, '--data', dataDir]
      execFile(
        process.execPath,
        given,
        { env: { ...process.env, ...env } },
        (error, stdout, stderr) =>
          resolve({ status: error === null ? 0 : error.code, text: stdout + stderr }),
      )
    })
  const made = run('init', '--sandbox', '--json')
  t.equal(made.status, 0, made.stderr)
  const { apiKey } = JSON.parse(made.stdout)
  await ask('postgres', 'create database before template mail owner ph')
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\nthreads = 1\nwarm_up = "off"\n` +
      `[dns.static."mx.test"]\na = ["127.0.0.1"]\n[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n`,
  )
  const posthorn = await serve(t, dataDir, env)

  const eventually = async (isSo: () => Promise<boolean> | boolean, what: string) => {
    for (let waited = 0; waited < 20_000; waited += 50) {
      if (await isSo()) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`${what}: ${posthorn.log()}`)
  }
  const post = () =>
    fetch(`${posthorn.url}/v1/emails/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        from: 'a@example.test',
        to: 'b@example.org',
        subject: 'Hello',
        html: 'Hello',
      }),
    })
  const ready = async () => (await fetch(`${posthorn.url}/readyz`)).status
  /** For how long `isSo` waited. */
  const within = async (isSo: () => Promise<boolean>, what: string) => {
    const began = performance.now()
    await eventually(isSo, what)
    return performance.now() - began
  }
  const endSessions = () =>
    ask('postgres', "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ph'")
  let sent = 0
  /** A mail whose receiver has it all, and takes it in two seconds. */
  const inHand = async () => {
    t.equal((await post()).status, 200)
    sent++
    await mx.waitUntil(
      () =>
        mx.sessions.flatMap(({ commands }) => commands).filter((one) => one === 'DATA').length ===
        sent,
      20_000,
    )
  }
  /** The outcome of what is in hand has come while it cannot be written. */
  const unwritten = async () => {
    await mx.waitForMessages(sent, 20_000)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  const requireAway = async (t: Test, reason: RegExp) => {
    const answer = await post()
    t.equal(answer.status, 503)
    t.match(answer.headers.get('retry-after'), /^\d+$/)
    t.match(await answer.text(), /"service_unavailable"/)
    // Sessions that were ended are said first, and then why no new ones are to be had.
    await eventually(async () => {
      const state = await fetch(`${posthorn.url}/readyz`)
      return state.status === 503 && reason.test(await state.text())
    }, `not ${reason}`)
  }
  const requireSettled = async () =>
    await eventually(async () => {
      const rows = await ask('mail', "select 1 from emails where status = 'delivered'")
      return rows.length === sent
    }, 'not settled')

  await t.test('its role may not log in', async (t) => {
    await inHand()
    await ask('postgres', 'alter role ph nologin')
    await endSessions()
    const red = await within(async () => (await ready()) === 503, 'not red')
    t.ok(red < turnsMs, `red after ${red} ms`)
    await requireAway(t, /not permitted to log in/)
    await unwritten()
    const [status, doctor, queue] = await Promise.all([
      told('status'),
      told('doctor'),
      told('queue', 'summary'),
    ])
    t.equal(status.status, 1, status.text)
    t.match(status.text, / up for /)
    t.match(status.text, /cannot be asked: .*takes no mail/)
    t.equal(doctor.status, 1, doctor.text)
    t.match(doctor.text, /fail {2}database .*cannot be asked: role "ph" is not permitted/)
    t.match(doctor.text, / disk /)
    t.notMatch(doctor.text, /fault of Posthorn/)
    t.equal(queue.status, 1, queue.text)
    t.match(queue.text, /The appliance runs meanwhile: it takes no mail/)
    await ask('postgres', 'alter role ph login')
    const green = await within(async () => (await ready()) === 200, 'not green')
    t.ok(green < turnsMs, `green after ${green} ms`)
    await requireSettled()
  })

  await t.test('a table is not its own', async (t) => {
    await inHand()
    await ask('mail', 'alter table emails owner to posthorn')
    const red = await within(async () => (await ready()) === 503, 'not red')
    t.ok(red < turnsMs, `red after ${red} ms`)
    await requireAway(t, /emails/)
    await unwritten()
    await ask('mail', 'alter table emails owner to ph')
    const green = await within(async () => (await ready()) === 200, 'not green')
    t.ok(green < turnsMs, `green after ${green} ms`)
    await requireSettled()
  })
  t.notMatch(posthorn.log(), /left alone|its delivery is held|failed unexpectedly/)
  t.equal(mx.messages.length, sent, 'none was sent twice')

  await t.test('its password was changed', async (t) => {
    await ask('postgres', "alter role ph password 'two'")
    await endSessions()
    await requireAway(t, /password authentication failed/)
    writeFileSync(passwordFile, 'two\n')
    const green = await within(async () => (await ready()) === 200, 'the file is not read again')
    t.ok(green < turnsMs, `green after ${green} ms`)
    t.equal((await post()).status, 200)
  })

  await t.test('an older database is in the place of its own', async (t) => {
    await ask('postgres', 'alter database mail with allow_connections false')
    await endSessions()
    await ask('postgres', 'alter database mail rename to gone')
    await ask('postgres', 'alter database before rename to mail')
    t.equal((await posthorn.exited).code, 78)
    t.match(posthorn.log(), /went back by/)
    t.notMatch(posthorn.log(), /taken by another/)
  })
})
