// While the server of the database is away: what each door says, and that what was let through counts afterwards.
import { spawnSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { Talk } from '../sandbox/talk.js'
import { noPostgres, startPostgres } from '../support/postgres.js'
import { cliEntry, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

t.test('each door while the database is away', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  const ask = async <Row extends pg.QueryResultRow>(database: string, text: string) => {
    const client = new pg.Client(`${server.url}/${database}`)
    await client.connect()
    return (await client.query<Row>(text).finally(() => client.end())).rows
  }
  await ask('postgres', 'create database mail')
  const { valid } = await testCertificates(t, 'localhost')
  const env = {
    POSTHORN_STORE_URL: `${server.url}/mail`,
    POSTHORN_STORE_TRUST_DURABILITY: 'true',
    POSTHORN_TRACKING_MACHINE_WITHIN: '0s',
  }
  const dataDir = makeTempDir(t)
  const made = spawnSync(
    process.execPath,
    [cliEntry, 'init', '--sandbox', '--json', '--data', dataDir],
    { encoding: 'utf8', env: { ...process.env, ...env } },
  )
  t.equal(made.status, 0, made.stderr)
  const { apiKey } = JSON.parse(made.stdout)
  appendFileSync(
    join(dataDir, 'posthorn.toml'),
    `\n[submission]\nenabled = true\nstarttls = "127.0.0.1:0"\ntls = "127.0.0.1:0"\n` +
      `plain = { listen = "127.0.0.1:0", networks = ["127.0.0.0/8"] }\n` +
      `certificate = "${valid.certFile}"\nkey = "${valid.keyFile}"\n`,
  )
  const posthorn = await serve(t, dataDir, env)
  const eventually = async <T>(find: () => Promise<T | undefined> | T | undefined): Promise<T> => {
    for (let waited = 0; waited < 30_000; waited += 50) {
      const found = await find()
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`It does not come: ${posthorn.log()}`)
  }
  const portOf = (listener: string) =>
    eventually(() => {
      const line = posthorn
        .log()
        .split('\n')
        .find((one) => one.includes(`"${listener}"`) && one.includes('"port":'))
      const port = /"port":(\d+)/.exec(line ?? '')?.[1]
      return port === undefined ? undefined : Number(port)
    })
  const say = async (talk: Talk, ...lines: string[]) => {
    let reply = ''
    for (const line of lines) reply = await talk.say(line)
    return reply
  }

  const sent = await fetch(`${posthorn.url}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      from: 'a@example.test',
      to: 'b@example.org',
      subject: 'Hello',
      html: '<p><a href="https://shop.test/a">there</a>',
    }),
  })
  t.equal(sent.status, 200)
  const { id } = (await sent.json()) as { id: string }
  const { click, returnPath } = await eventually(async () => {
    const [row] = await ask<{ raw: Buffer; mail_from: string }>(
      'mail',
      'select raw, mail_from from sandbox_messages inner join sandbox_sources using (id)',
    )
    if (row === undefined) return undefined
    const text = row.raw.toString('latin1').replaceAll('=\r\n', '').replaceAll('=3D', '=')
    const click = /"(http:\/\/[^"]+\/c\/[^"]+)"/.exec(text)?.[1]
    return { click: click ?? '', returnPath: row.mail_from }
  })
  t.match(click, /\/c\//)
  const program = await Talk.open(t, await portOf('plain'))
  const token = Buffer.from(`\0posthorn\0${apiKey}`).toString('base64')
  t.match(await say(program, 'EHLO client.test', `AUTH PLAIN ${token}`), /^235/)
  const reporter = await Talk.open(t, await portOf('inbound'))
  await say(reporter, 'EHLO mx.test')

  server.crash()

  const bounce = say(
    reporter,
    'MAIL FROM:<>',
    `RCPT TO:<${returnPath}>`,
    'DATA',
    'Subject: x\r\n\r\nx\r\n.',
  )
  const hand = async () => {
    for (const line of ['MAIL FROM:<a@example.test>', 'RCPT TO:<c@example.org>', 'DATA']) {
      const reply = await program.say(line)
      if (!/^[23]/.test(reply)) return reply
    }
    return await program.say('From: a@example.test\r\nSubject: x\r\n\r\nx\r\n.')
  }
  const began = performance.now()
  const visit = await fetch(click, {
    redirect: 'manual',
    headers: {
      'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Mobile/15E148',
    },
  })
  t.equal(visit.status, 302, 'a click goes on')
  t.equal(visit.headers.get('location'), 'https://shop.test/a')
  t.ok(performance.now() - began < 2_000)
  t.match(await hand(), /^451 /, 'a program is to come again')
  t.match(await bounce, /^451 4\.3\.0 /, 'so is who reports')
  const fresh = await Talk.open(t, await portOf('plain'))
  t.match(await say(fresh, 'EHLO client.test', `AUTH PLAIN ${token}`), /^4(51|54) /)
  const ready = await fetch(`${posthorn.url}/readyz`)
  t.equal(ready.status, 503)
  t.equal((await fetch(`${posthorn.url}/healthz`)).status, 200)

  server.start()
  await eventually(async () => {
    const { status } = await fetch(`${posthorn.url}/readyz`)
    return status === 200 || undefined
  })
  t.match(
    await say(await Talk.open(t, await portOf('plain')), 'EHLO client.test', `AUTH PLAIN ${token}`),
    /^235/,
  )
  t.match(
    await say(
      await Talk.open(t, await portOf('inbound')),
      'EHLO mx.test',
      'MAIL FROM:<>',
      `RCPT TO:<${returnPath}>`,
      'DATA',
      'Subject: x\r\n\r\nx\r\n.',
    ),
    /^250 /,
  )
  const clicks = await eventually(async () => {
    const [row] = await ask<{ clicks: number }>(
      'mail',
      `select clicks::int from emails where id = '${id}' and clicks > 0`,
    ).catch(() => [])
    return row?.clicks
  })
  t.equal(clicks, 1, 'the click of meanwhile counts')
  const stacks = posthorn
    .log()
    .split('\n')
    .filter((line) => line.includes('"chore"') && line.includes('"stack"'))
  t.same(stacks, [], 'a line without a stack says that a chore waits')
  await posthorn.kill('SIGTERM')
})
