import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { findPlan, loadPlans, suspend, unsuspend } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { Talk } from '../sandbox/talk.js'
import { initSandbox, serve } from '../support/process.js'
import { addRule, giveMail, startReceiving, when, whenRead } from '../support/receiving.js'
import { databaseIn, makeTempDir } from '../support/store.js'

t.setTimeout(300_000)

const hello = 'From: ann@example.test\nSubject: Hello\n\nHello\n'

t.test('what is not taken is refused before it is sent, or at its dot', async (t) => {
  const posthorn = await startReceiving(t)
  const { inboundSmtpPort: port } = posthorn.appliance
  const { store, accountId } = posthorn
  await addRule(posthorn, { pattern: 'a@in.sender.test', action: 'store' })
  const give = (message: string | Buffer) => giveMail(t, port, 'a@in.sender.test', message)
  t.match(await give(Buffer.from('Subject: x\r\n\r\nbare\nline')), /^550 5\.6\.0 .*bare/)
  t.match(await give(Buffer.from('Subject: x\r\n\r\nbare\rline')), /^550 5\.6\.0 .*bare/)
  t.match(await give(Buffer.from('Subject: x\r\n\r\n\0')), /^550 5\.6\.0 .*NUL/)
  t.match(await give(`Subject: x\n${'X-Pad: x\n'.repeat(20_000)}\nx`), /^552 5\.3\.4 The header/)
  t.match(await giveMail(t, port, 'postmaster@in.sender.test', hello), /^250 /)
  await store.write((tx) => suspend(tx, accountId, 'a test'))
  t.match(await give(hello), /^450 4\.2\.1/)
  await store.write((tx) => unsuspend(tx, accountId))
  t.match(await give(hello), /^250 /)
  const free = findPlan(loadPlans('config/plans.toml').email, 'Free')
  await store.write(async (tx) => {
    await tx
      .updateTable('subscriptions')
      .set({ plan_id: free.id })
      .where('account_id', '=', accountId)
      .execute()
    await tx
      .updateTable('handed_in')
      .set({ mails: free.receivedPerDay ?? 0 })
      .where('holder', '=', `received ${accountId}`)
      .execute()
  })
  t.match(await give(hello), /^452 4\.2\.2 .*today/)
  t.equal((await whenRead(posthorn)).length, 1, 'nothing of what was refused is there')
})

t.test(
  'an hour has its limit, of which one network has half, and no two have the last',
  async (t) => {
    const dataDir = makeTempDir(t)
    const plan = `[[email]]
id = "019a9b10-0000-7000-8000-0000000000fe"
name = "Narrow"
monthly_mails = 3_000
daily_cap = false
received_per_hour = 4
price_naira = 0
retention_days = 7
domains = 1
webhooks = true
features = []

[[email]]
id = "019a9b10-0000-7000-8000-0000000000fd"
name = "Narrow day"
monthly_mails = 3_000
daily_cap = false
received_per_day = 10
price_naira = 0
retention_days = 7
domains = 1
webhooks = false
features = []
`
    const usual = readFileSync('config/plans.toml', 'utf8')
    writeFileSync(join(dataDir, 'plans.toml'), `${usual}\n${plan}`)
    // Counts begin anew with each clock hour.
    const leftMs = 3_600_000 - (Date.now() % 3_600_000)
    if (leftMs < 60_000) await new Promise((resolve) => setTimeout(resolve, leftMs))
    const posthorn = await startReceiving(t, { dataDir })
    const { store, accountId } = posthorn
    const port = posthorn.appliance.inboundSmtpPort ?? 0
    await addRule(posthorn, { pattern: '*@in.sender.test', action: 'store' })
    const choose = (plan: string) =>
      store.write((tx) =>
        tx
          .updateTable('subscriptions')
          .set({ plan_id: `019a9b10-0000-7000-8000-0000000000${plan}` })
          .where('account_id', '=', accountId)
          .execute(),
      )
    await choose('fe')
    const give = (address: string, to: string | string[] = 'a@in.sender.test') =>
      giveMail(t, port, to, hello, { address })
    t.match(await give('127.0.0.1'), /^250 /)
    t.match(await give('127.0.0.2'), /^250 /)
    t.match(await give('127.0.0.3'), /^450 4\.7\.1 .*from there/)
    t.match(await give('127.0.1.1'), /^250 /)
    const two = ['a@in.sender.test', 'b@in.sender.test']
    t.match(await give('127.0.1.1', two), /^452 4\.2\.2 .*for now/, 'the second address')
    const begun = ['127.0.2.1', '127.0.3.1'].map(async (address) => {
      const { talk } = await Talk.greeted(t, port, address)
      await talk.say('EHLO client.test')
      await talk.say('MAIL FROM:<ann@example.test>')
      t.match(await talk.say('RCPT TO:<a@in.sender.test>'), /^250 /)
      return talk
    })
    const replies = []
    for (const talk of await Promise.all(begun)) {
      await talk.say('DATA')
      talk.write(hello.replaceAll('\n', '\r\n'))
      replies.push(await talk.say('\r\n.'))
    }
    t.match(replies, [/^250 /, /^452 4\.2\.2 .*for now/])
    t.match(await give('127.0.4.1'), /^452 4\.2\.2 .*this hour/)
    t.equal((await whenRead(posthorn, 4)).length, 4)
    await choose('fd')
    for (let n = 0; n < 5; n++) t.match(await give('127.0.5.1'), /^250 /)
    t.match(await give('127.0.5.1'), /^450 4\.7\.1 .*from there, try again tomorrow/)
    t.match(await give('127.0.6.1'), /^250 /, 'the rest of the day is for others')
  },
)

t.test('a mail that hurts its reader is kept, and holds up no other', async (t) => {
  const posthorn = await startReceiving(t)
  const { inboundSmtpPort: port } = posthorn.appliance
  await addRule(posthorn, { pattern: '*@in.sender.test', action: 'webhook' })
  const deep = Array.from(
    { length: 400 },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
  )
  const hostile = [
    `Subject: deep\nFrom: boss@example.test \u202egpj.exe\nMessage-ID: <deep@example.test>\n${deep.join('')}`,
    'Subject: odd\nContent-Type: text/plain; charset=utf-8\n\na\u009b2J\u0007b\tc',
    `Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n${'--b\n\n'.repeat(20_000)}`,
    `Subject: x\nReferences: ${'<a@b> '.repeat(5_000)}\nMessage-ID: <x>\n\nx`,
    `Subject: =?utf-8?q?=0d=0aBcc:_x=40y.test?=\nFrom: "=?utf-8?b?DQpYOiB5?=" <a@b.test>\nX-A\u0000b: c\n\nx`.replace(
      '\u0000',
      '',
    ),
  ]
  for (const mail of hostile) t.match(await giveMail(t, port, 'x@in.sender.test', mail), /^250 /)
  t.match(await giveMail(t, port, 'y@in.sender.test', hello, { address: '127.0.1.1' }), /^250 /)
  const all = await whenRead(posthorn, hostile.length + 1)
  t.equal(all.length, hostile.length + 1)
  t.match(
    all.find(({ recipient }) => recipient === 'y@in.sender.test'),
    { state: 'read' },
  )
  const deepest = all.find(({ subject }) => subject === 'deep')
  t.match(deepest, {
    state: 'unreadable',
    fault: 'Its parts stand in each other more than 30 deep',
    from: 'boss@example.test gpj.exe',
    messageId: '<deep@example.test>',
    checks: { dkim: 'none' },
    headers: [{ name: 'Subject', value: 'deep' }],
  })
  const odd = all.find(({ subject }) => subject === 'odd')
  t.equal(odd.text.trim(), 'a2Jb\tc', 'no control character')
  for (const mail of all) {
    t.notMatch(`${mail.subject}${mail.from}`, /[\r\n]/, 'no value has a line end')
    const { json } = await posthorn.call('GET', `/v1/received/${mail.id}/raw`)
    t.match(Buffer.from(json.content, 'base64').toString(), /^(?:Subject|From): /)
  }
})

t.test('rspamd marks what comes in, and what it rejects is refused', async (t) => {
  let answer = { score: 3.5, required_score: 15, action: 'no action', symbols: { R_TEST: {} } }
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    request.resume().on('end', () => response.end(JSON.stringify(answer)))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const filterPort = typeof address === 'object' ? address?.port : 0
  const url = `http://127.0.0.1:${filterPort}`
  const posthorn = await startReceiving(t, { env: { POSTHORN_INBOUND_RSPAMD_URL: url } })
  const { inboundSmtpPort: port } = posthorn.appliance
  await addRule(posthorn, { pattern: 'a@in.sender.test', action: 'store' })
  t.match(await giveMail(t, port, 'a@in.sender.test', hello), /^250 /)
  t.match(asked[0]?.headers, {
    ip: '127.0.0.1',
    from: 'ann@example.test',
    rcpt: 'a@in.sender.test',
  })
  const [mail] = await whenRead(posthorn)
  t.same(mail.spam, { score: 3.5, required: 15, action: 'no action', symbols: ['R_TEST'] })
  answer = { ...answer, action: 'reject' }
  t.match(await giveMail(t, port, 'a@in.sender.test', hello), /^550 5\.7\.1/)
  server.closeAllConnections()
  server.close()
  t.match(await giveMail(t, port, 'a@in.sender.test', hello), /^250 /, 'it is down')
})

t.test('an erasure takes what somebody has written, and no more', async (t) => {
  const posthorn = await startReceiving(t)
  const { inboundSmtpPort: port } = posthorn.appliance
  await addRule(posthorn, { pattern: '*@in.sender.test', action: 'store' })
  await giveMail(t, port, 'a@in.sender.test', hello)
  const other = hello.replace('ann@', 'joann@')
  await giveMail(t, port, 'a@in.sender.test', other, { from: 'joann@example.test' })
  await whenRead(posthorn, 2)
  const known = await posthorn.call('GET', '/v1/contacts/downloads/ann%40example.test')
  t.match(known.json.received, [{ subject: 'Hello', text: /Hello/ }])
  const body = { address: 'ann@example.test' }
  const { json } = await posthorn.call('POST', '/v1/contacts/erasures', { body })
  await when(
    () => posthorn.call('GET', `/v1/contacts/erasures/${json.id}`),
    (found) => found.json.state === 'done',
  )
  const left = (await posthorn.call('GET', '/v1/received')).json.received
  t.match(left, [{ from: 'joann@example.test' }])
  t.equal(left.length, 1)
})

t.test('a kill -9 after the 250 loses nothing', async (t) => {
  const dataDir = join(makeTempDir(t), 'data')
  const { apiKey } = initSandbox(dataDir)
  const database = await databaseIn(dataDir)
  const store = await openStore({ ...database, clock, turns: makeTurns(), slot: 15 })
  t.teardown(() => store.close())
  const domain = await store.read
    .selectFrom('domains')
    .select(['id', 'account_id', 'name'])
    .where('status', '=', 'verified')
    .executeTakeFirstOrThrow()
  const host = `in.${domain.name}`
  await store.write(async (tx) => {
    await tx
      .updateTable('domains')
      .set({ receiving_host: host })
      .where('id', '=', domain.id)
      .execute()
    const rule = {
      id: store.ids.uuid(),
      account_id: domain.account_id,
      domain_id: domain.id,
      place: 1,
    }
    const all = { kind: 'all', local: '', action: 'store', forward_to: null } as const
    await tx
      .insertInto('receiving_rules')
      .values({ ...rule, ...all, enabled: 1, created_at: 1 })
      .execute()
  })
  const env = { POSTHORN_OUTBOUND_THREADS: '1', POSTHORN_LOG_LEVEL: 'info' }
  const portIn = (log: string) =>
    Number(
      /"port":(\d+)[^\n]*"msg":"Listens for reports"/.exec(log)?.[1] ??
        /Listens for reports[^\n]*"port":(\d+)/.exec(log)?.[1],
    )
  const running = await serve(t, dataDir, env)
  const port = await when(
    async () => portIn(running.log()),
    (found) => found > 0,
  )
  let taken = 0
  const giving = Array.from({ length: 8 }, async () => {
    for (let n = 0; n < 20; n++) {
      const reply = await giveMail(t, port, `x@${host}`, hello).catch(() => '')
      if (reply.startsWith('250')) taken++
      if (taken > 40) await running.kill('SIGKILL')
    }
  })
  await Promise.race([Promise.all(giving), running.exited])
  const sure = taken
  const again = await serve(t, dataDir, env)
  const call = async (_method: string, path: string) => {
    const response = await fetch(again.url + path, {
      headers: { authorization: `Bearer ${apiKey}` },
    })
    return { json: (await response.json()) as { received: { state: string }[] } }
  }
  const { json } = await when(
    () => call('GET', '/v1/received?limit=500'),
    (found) => found.json.received.every(({ state }) => state === 'read'),
  )
  t.ok(json.received.length >= sure, `${json.received.length} are there of ${sure} that were taken`)
})
