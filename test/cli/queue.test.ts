import { appendFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { controlSocket } from '../../src/app/files.js'
import { suspend } from '../../src/billing/index.js'
import { enqueue, restoredReason } from '../../src/deliveries/index.js'
import { endOrders } from '../../src/outbound/index.js'
import { queueClass } from '../../src/store/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'
import { runCli } from './run.js'

// On a machine that may have other work.
t.setTimeout(300_000)

const hourMs = 3_600_000
const uuid = (n: number) => `01a1fc9b-c6fc-7b61-b22f-${String(n).padStart(12, '0')}`

interface Row {
  to: string
  email?: number
  class?: keyof typeof queueClass
  attempts?: number
  dueInMs?: number
  reply?: string
  transcript?: string
  inFlight?: true
}

/** An account whose queue has these deliveries; `ids` are theirs in order. */
async function openQueue(t: Test, rows: readonly Row[]) {
  const place = await openPlace(t)
  const { id: accountId } = await place.json<{ id: string }>('account', 'create', 'City')
  const store = await openTestStore(t, { dataDir: place.data, slot: 14 })
  const now = Date.now()
  const ids = rows.map(() => store.ids.serial())
  await store.write(async (tx) => {
    const emails = new Map<string, number>()
    for (const [at, row] of rows.entries()) {
      const emailId = uuid(row.email ?? at)
      emails.set(emailId, (emails.get(emailId) ?? 0) + 1)
      const dueAt = now + (row.dueInMs ?? -1_000)
      const delivery = { id: ids[at] ?? 0, emailId, accountId, recipient: row.to, dueAt }
      const lane = row.to.split('@')[1] ?? ''
      const expiresAt = now + 100 * hourMs
      await enqueue(tx, [
        { ...delivery, lane, class: queueClass[row.class ?? 'transactional'], expiresAt },
      ])
      await tx
        .updateTable('queue')
        .set({
          attempts: row.attempts ?? 0,
          lease: row.inFlight ? 0 : null,
          last_attempt_at: row.attempts ? now - 60_000 : null,
          last_reply: row.reply ?? null,
          last_transcript: row.transcript ?? null,
        })
        .where('id', '=', delivery.id)
        .execute()
    }
    for (const [id, waiting] of emails) {
      await tx
        .insertInto('emails')
        .values({
          id,
          account_id: accountId,
          domain_id: '',
          from_header: 'a@b.test',
          to_list: '[]',
          subject: 'S',
          type: 'transactional',
          status: 'queued',
          message_id: '',
          waiting,
          broadcast_id: id === uuid(7) ? uuid(99) : null,
          provider: 'primary',
          delivered: 0,
          bounced: 0,
          failed: 0,
          created_at: now,
        })
        .execute()
    }
  })
  const text = (id: number | undefined) => String(id)
  return { ...place, store, accountId, ids: ids.map(text) }
}

const greylisted = '451 4.7.1 Greylisted,\nsee https://x.test'

t.test('what waits is summed up, listed and explained', async (t) => {
  const { run, json, refused, ids, accountId } = await openQueue(t, [
    { to: 'ada@one.test', attempts: 2, dueInMs: hourMs, reply: greylisted },
    { to: 'bob@one.test', email: 7, dueInMs: 24 * hourMs },
    { to: 'cy@two.test', email: 7, class: 'campaign', inFlight: true, dueInMs: hourMs },
  ])
  t.match(await json('queue', 'summary'), {
    classes: [
      { class: 'transactional', waiting: 2, deferred: 1, scheduled: 1, due: 0, inFlight: 0 },
      { class: 'campaign', waiting: 1, inFlight: 1, oldestAt: /Z$/ },
    ],
    domains: [
      { domain: 'one.test', waiting: 2 },
      { domain: 'two.test', waiting: 1 },
    ],
  })
  const { stdout: summary } = await run('queue', 'summary', '--domain', 'ONE.test')
  t.match(summary, /^CLASS +WAITING +DUE +IN FLIGHT/)
  t.match(summary, /\ntransactional +2 +0 +0 +1 +1 +0 +0 +\d+ s\n/)
  t.notMatch(summary, /campaign|two\.test/)

  const { stdout: list } = await run('queue', 'list')
  t.match(
    list,
    /ada@one\.test +transactional +.+ 2 +greylisted +.+ UTC +451 4\.7\.1 Greylisted, \/ see/,
  )
  t.match(list, /bob@one\.test.+scheduled/)
  t.match(list, /cy@two\.test +campaign +.+in-flight/)
  const two = await run('queue', 'list', '--limit', '2')
  t.match(two, { stderr: /^There are more: --limit/ })
  const chosen = async (...filter: string[]) =>
    (await json<{ recipient: string }[]>('queue', 'list', ...filter)).map((d) => d.recipient)
  t.same(await chosen('--class', 'campaign'), ['cy@two.test'])
  t.same(await chosen('--email', uuid(7)), ['bob@one.test', 'cy@two.test'])
  t.same(await chosen('--account', 'City', '--domain', 'one.test'), [
    'ada@one.test',
    'bob@one.test',
  ])
  t.same(await chosen('--older-than', '1h'), [])
  t.match(await run('queue', 'list', '--older-than', 'long'), { status: 2 })
  await refused(/No account "Nobody"/, 'queue', 'list', '--account', 'Nobody')

  const { stdout: shown } = await run('queue', 'show', ids[0] ?? '')
  t.match(shown, /^Delivery +\d+\n/)
  t.match(shown, new RegExp(`\nAccount +City \\(${accountId}\\)\n`))
  t.match(shown, /\nAttempts +2\n/)
  t.match(
    shown,
    /\nWaits because +Greylisted: the receiver asks to be tried again later: 451 4\.7\.1 Greylisted, \/ see .+; next attempt 20.+ UTC\n/,
  )
  t.match(await json('queue', 'show', uuid(7)), [
    { recipient: 'bob@one.test', status: 'waiting', why: { gate: 'scheduled', until: /Z$/ } },
    { recipient: 'cy@two.test', why: { gate: 'in-flight', says: /under way since 20/ } },
  ])
  await refused(/No delivery is known of 42/, 'queue', 'show', '42')
  t.match(await json('queue', 'show', ids[2] ?? ''), [{ broadcastId: uuid(99) }])
  t.match(
    (await run('queue', 'show', ids[2] ?? '')).stdout,
    new RegExp(`\nCampaign +${uuid(99)}\n`),
  )
  await run('queue', 'fail', ids[1] ?? '', '--reason', 'x', '--yes')
  t.match(await json('queue', 'show', ids[1] ?? ''), [{ status: 'failed', broadcastId: uuid(99) }])
  await refused(
    /"x@y" is neither the number.*'posthorn queue list --json' shows both/,
    'queue',
    'show',
    'x@y',
  )
})

t.test('the last conversation is shown, and cannot play with the terminal', async (t) => {
  const said =
    '0 S: 220 mx ready\n12 C: RCPT TO:<a@one.test>\n40 S: 451 \u001b[2Jgo \u0007away\u202e\u200b\u{e0041}'
  const numbered = Array.from({ length: 25 }, (_, at) => `${at} S: 250-X${at}`)
  const { run, json, refused, ids, store } = await openQueue(t, [
    { to: 'a@one.test', attempts: 1, transcript: said, email: 1 },
    { to: 'b@one.test', email: 1 },
    { to: 'c@one.test', attempts: 1, transcript: numbered.join('\n'), dueInMs: 101 * hourMs },
    { to: 'd@two.test', attempts: 1, dueInMs: 90_000 },
  ])
  const [first = '', second = '', third = ''] = ids
  const shown = (await run('queue', 'show', third)).stdout
  t.match(shown, /; next attempt 20\S+ \d\d:\d\d UTC, but it is given up before\n/)
  const soon = (await run('queue', 'show', ids[3] ?? '')).stdout
  t.match(soon, /; next attempt 20\S+ \d\d:\d\d:\d\d UTC\n/, 'to the second')
  const [head = '', ...lines] = shown.split('\n\n')[1]?.split('\n') ?? []
  t.match(head, `without its first 5 lines ('posthorn queue transcript ${third}'):`)
  t.same(lines, [...numbered.slice(-20).map((line) => `  ${line}`), ''])
  const safe =
    '0 S: 220 mx ready\n12 C: RCPT TO:<a@one.test>\n40 S: 451 \\u001b[2Jgo \\u0007away\\u202e\\u200b\\u{e0041}\n'
  t.equal((await run('queue', 'transcript', first)).stdout, safe)
  t.match(await run('queue', 'transcript', second), { stdout: /^No conversation was kept/ })
  await refused(
    /several deliveries; choose one:\n {2}\d+ {2}a@one\.test/,
    'queue',
    'transcript',
    uuid(1),
  )
  await store.write((tx) =>
    tx
      .insertInto('deferred_transcripts')
      .values([
        { delivery_id: Number(first), at: 1_700_000_000_000, transcript: '0 S: 421 \u0007busy' },
        { delivery_id: Number(first), at: 1_700_000_900_000, transcript: said },
      ])
      .execute(),
  )
  const all = `2023-11-14 22:13 UTC\n0 S: 421 \\u0007busy\n\n2023-11-14 22:28 UTC\n${safe}`
  t.equal((await run('queue', 'transcript', first, '--all')).stdout, all)
  t.match(await json('queue', 'transcript', first, '--all'), {
    transcript: said,
    attempts: [{ at: '2023-11-14T22:13:20.000Z' }, { transcript: said }],
  })
  await json('queue', 'fail', first, '--reason', 'no such person', '--yes')
  t.equal((await run('queue', 'transcript', first)).stdout, safe, 'of one that has ended too')
  t.equal((await run('queue', 'transcript', first, '--all')).stdout, all)
  t.match(await json('queue', 'transcript', first), { recipient: 'a@one.test', transcript: said })
  t.match(await json('queue', 'show', first), [
    { status: 'failed', reply: 'Given up by the operator: no such person', endedAt: /Z$/ },
  ])
  t.match(await json('queue', 'show', uuid(1)), [{ transcript: null }, { transcript: said }])
  const whole = (await run('queue', 'show', uuid(1))).stdout
  t.match(whole, `\n\nThe last conversation:\n  ${safe.replaceAll('\n', '\n  ').trimEnd()}\n`)
  t.match((await store.read.selectFrom('emails').selectAll().orderBy('id').execute())[0], {
    failed: 1,
    waiting: 1,
  })
})

t.test('waiting mail is held, released, retried and failed', async (t) => {
  const { run, json, refused, misused, ids } = await openQueue(t, [
    { to: 'a@one.test', attempts: 1, dueInMs: hourMs, reply: '451 later' },
    { to: 'b@one.test', dueInMs: hourMs },
    { to: 'c@two.test', inFlight: true, dueInMs: hourMs },
  ])
  const [first = '', second = ''] = ids
  await misused(/name deliveries or emails, choose by an option/, 'queue', 'hold')
  await refused(/Nothing of 42 waits\. Nothing was changed/, 'queue', 'hold', first, '42')
  t.match(await run('queue', 'fail', first), { status: 2, stderr: /--reason <text>/ })
  await refused(
    /The reason must have 1 to 200 characters/,
    'queue',
    'fail',
    first,
    '--reason',
    'a\u0007',
  )

  t.match(await run('queue', 'hold', '--all', '--reason', 'disk\u{1f4be}check'), {
    status: 0,
    stdout: /^2 deliveries are held\. 'posthorn queue release' lets them go on\n$/,
    stderr: /^1 in flight, left alone: run it again once their attempts have ended\n$/,
  })
  const { stdout: held } = await run('queue', 'held')
  t.match(held, /a@one\.test +transactional +20.+ UTC +20.+ UTC +disk\u{1f4be}check\n/u)
  t.same(await json('queue', 'retry', first), { changed: 0, inFlight: 0, unchanged: 1 })
  t.match(await json('queue', 'show', second), [
    { held: { reason: 'disk\u{1f4be}check' }, why: { gate: 'held' }, dueAt: /^20/ },
  ])
  t.match(await run('queue', 'release', '--domain', 'one.test'), {
    stdout: /^2 deliveries are released\. A running appliance sees it within 30 seconds\.\n$/,
  })
  t.match(await run('queue', 'held'), { stdout: 'No mail is held\n' })
  t.match(await run('queue', 'release', '--all'), { stdout: 'No waiting delivery matches\n' })

  t.match(await run('queue', 'retry', '--all'), {
    stdout: /^1 delivery is due now\./,
    stderr:
      '1 in flight, left alone: run it again once their attempts have ended\n1 left as they were: never tried yet, held, or gone meanwhile\n',
  })
  t.match(await json('queue', 'show', first), [{ why: { gate: 'due' } }])
  t.match(await run('queue', 'fail', '--all', '--reason', 'closed', '--yes'), {
    stdout: /^2 deliveries are ended as failed\n$/,
  })
  await refused(/Nothing of \d+ waits; 'posthorn queue show \d+' tells/, 'queue', 'retry', first)
})

t.test('the list tells the gates of the running appliance', async (t) => {
  const { run, json, data, store, accountId } = await openQueue(t, [
    { to: 'a@one.test' },
    { to: 'b@one.test' },
    { to: 'c@two.test' },
  ])
  const until = Date.UTC(2026, 10, 21, 17)
  const asked: string[] = []
  const appliance = createServer((socket) => {
    socket.once('data', (line) => {
      const { lane } = JSON.parse(line.toString()).gateOf
      asked.push(lane)
      const gate = { gate: 'suspended', says: 'Their servers do not answer', until }
      socket.end(JSON.stringify(lane === 'one.test' ? { gate } : {}))
    })
  })
  appliance.listen(controlSocket(data))
  t.teardown(() => appliance.close())
  const { stdout } = await run('queue', 'list')
  t.match(stdout, /^\d+ +a@one\.test .* suspended +2026-11-21 17:00 UTC/m)
  t.match(stdout, /^\d+ +c@two\.test .* due +-$/m)
  t.same(asked.sort(), ['one.test', 'two.test'], 'once a domain')
  const shown = await json<object[]>('queue', 'list')
  t.match(shown[0], { why: { gate: 'suspended', until: '2026-11-21T17:00:00.000Z' } })

  const gated = { domain: 'one.test', due: 2, gate: { gate: 'suspended', until: /T17:00/ } }
  const { domains } = await json<{ domains: object[] }>('queue', 'summary')
  t.match(domains, [gated, { domain: 'two.test', due: 1, gate: null }])
  t.match(await run('queue', 'summary'), {
    stdout: /\none\.test .+ s +suspended\ntwo\.test .+ -\n/,
  })
  await store.write((tx) => suspend(tx, accountId, 'unpaid'))
  t.match((await run('queue', 'list')).stdout, /^\d+ +a@one\.test .* account +-$/m)
  const { stdout: summary } = await run('queue', 'summary')
  t.match(summary, /^CLASS +WAITING +DUE .* STOPPED +OLDEST\ntransactional +3 +0 +0 +0 +0 +0 +3 /)
  t.match(summary, /\none\.test +2 +0 .* -\n/, 'no gate is asked for what no gate holds')
})

t.test('a retry tells the running appliance of the domains', async (t) => {
  const { run, data } = await openQueue(t, [
    { to: 'a@one.test', attempts: 1, dueInMs: hourMs, reply: '451 later' },
    { to: 'b@two.test' },
  ])
  const heard: unknown[] = []
  const appliance = createServer((socket) => {
    socket.once('data', (line) => {
      heard.push(JSON.parse(line.toString()))
      socket.end(JSON.stringify({ gate: null }))
    })
  })
  appliance.listen(controlSocket(data))
  t.teardown(() => appliance.close())
  t.match(await run('queue', 'retry', '--all'), {
    stdout: /^1 delivery is due now\. At a suspended site one message tries it at once/,
  })
  t.same(heard, [{ retry: ['one.test', 'two.test'] }], 'also those of mail that was never tried')
})

t.test('a running appliance takes what its operator does', async (t) => {
  const posthorn = await startPosthorn(t)
  const cli = async (...args: string[]) => {
    const { status, stdout, stderr } = await runCli([...args, '--data', posthorn.dataDir, '--json'])
    t.equal(status, 0, stderr)
    return JSON.parse(stdout)
  }
  const tomorrow = new Date(Date.now() + 24 * hourMs).toISOString()
  const body = { from: 'shop@sender.test', subject: 'Hi', html: '<p>Hi</p>' }
  const send = async (to: string) =>
    (await posthorn.send({ ...body, to, scheduledAt: tomorrow })).json.id
  const failed = await send('a@one.test')
  const cancelled = await send('b@one.test')
  t.same(await cli('queue', 'hold', '--domain', 'one.test'), {
    changed: 2,
    inFlight: 0,
    unchanged: 0,
  })
  t.match(await posthorn.email(failed), {
    status: 'scheduled',
    recipients: [{ status: 'queued', nextAttemptAt: null }],
  })
  await cli('queue', 'fail', failed, '--reason', 'the shop is closed', '--yes')
  t.match(await posthorn.email(failed), {
    status: 'failed',
    sentAt: null,
    recipients: [{ status: 'failed', reply: 'Given up by the operator: the shop is closed' }],
  })
  const { status } = await posthorn.call('DELETE', `/v1/emails/${cancelled}/cancel`)
  t.equal(status, 200, 'what is held can still be cancelled')
  t.same(await cli('queue', 'held'), { deliveries: [], campaigns: [], runs: [], webhooks: [] })
})

t.test('mail that leaves from another pool says so, before its next attempt too', async (t) => {
  const { data, run, json, ids, store, accountId } = await openQueue(t, [
    { to: 'ada@one.test', attempts: 1, dueInMs: hourMs, reply: '421 4.7.0 later' },
    { to: 'bob@two.test', class: 'campaign', dueInMs: hourMs },
  ])
  appendFileSync(
    join(data, 'posthorn.toml'),
    `[dns.static."one.test"]
mx = [{ preference = 1, exchange = "aspmx.l.google.com" }]
[dns.static."aspmx.l.google.com"]
a = ["8.8.4.4"]
[outbound.pools.spare]
sources = [{ addresses = ["192.0.2.9"] }]
`,
  )
  const [one = '', two = ''] = ids
  const move = async (site: string, ...of: string[]) =>
    await json('site', 'move', site, '--pool', 'spare', '--for', '1h', '--why', 'blocked', ...of)
  const moved = async (id: string) =>
    (await json<{ moved: unknown }[]>('queue', 'show', id)).map((one) => one.moved)
  t.same([await moved(one), await moved(two)], [[null], [null]])
  await move('google')
  t.match(
    (await run('queue', 'show', one)).stdout,
    /\nMoved +Mail to google leaves from the pool spare until .*: blocked\n/,
  )
  t.same(await moved(two), [null], 'a domain without mail servers is at no site')
  await move('two.test', '--class', 'transactional')
  t.same(await moved(two), [null], 'of another class')
  await move('two.test', '--account', 'City')
  t.match(await moved(two), [{ order: 'pool', pool: 'spare', site: 'two.test', accountId }])
  t.match((await run('site', 'list')).stdout, /two\.test +from spare +City /, 'by its name')
  const now = Date.now()
  await store.write((tx) => endOrders(tx, { site: 'google' }, now))
  t.same(await moved(one), [null])
})

t.test('webhooks that a restore has set aside are named with what sends them', async (t) => {
  const { run, json, store, accountId } = await openQueue(t, [])
  const { id } = await json<{ id: string }>('webhook', 'add', 'https://hooks.test/in')
  const now = Date.now()
  const reason = restoredReason(now)
  const row = { endpoint_id: id, account_id: accountId, event: 'email.sent', body: '{}' }
  const ended = { attempts: 0, status: null, response: null, created_at: now, ended_at: now }
  await store.write(async (tx) => {
    for (let n = 0; n < 3; n++) {
      const outcome = n === 0 ? ('delivered' as const) : ('dropped' as const)
      const error = n === 0 ? null : reason
      const cause = n === 0 ? null : ('restored' as const)
      await tx
        .insertInto('webhook_deliveries')
        .values({
          id: store.ids.serial(),
          email_id: uuid(n),
          outcome,
          error,
          cause,
          ...row,
          ...ended,
        })
        .execute()
    }
    await tx.updateTable('appliance').set({ restored_at: now }).execute()
  })
  const aside = { endpointId: id, accountId, url: 'https://hooks.test/in', events: 2, reason }
  t.match(await json('queue', 'held'), { deliveries: [], webhooks: [aside] })
  t.match(await json('queue', 'held', '--domain', 'one.test'), { webhooks: [] }, 'of mails alone')
  const held = await run('queue', 'held')
  t.match(held.stdout, new RegExp(`^2 +${id} +https://hooks.test/in `, 'm'))
  t.match(held.stdout, reason)
  t.match(held.stderr, "'posthorn webhook replay ENDPOINT --failed' sends them; left alone")
  const { stdout: status } = await run('status')
  t.match(
    status,
    /- 2 webhooks of before the restore may not have arrived\n {4}posthorn queue held names the endpoints/,
  )
  t.match(await json('webhook', 'replay', id, '--failed'), { queued: 2 })
  t.match(await json('queue', 'held'), { webhooks: [] })
  t.notMatch((await run('status')).stdout, 'of before the restore')
})
