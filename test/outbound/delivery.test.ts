import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import { outboundRig, pass, shapedTo } from '../support/outbound.js'
import { testCertificates } from '../support/tls.js'

t.test('a mail is delivered once, signed, with its own return path', async (t) => {
  const rig = await outboundRig(t)
  const id = await rig.send({ to: 'Ann <ann@one.test>', subject: 'Grüße', text: 'hello' })
  const email = await rig.becomes(id, 'delivered')
  t.match(email, {
    to: 'Ann <ann@one.test>',
    provider: 'primary',
    recipients: [
      {
        email: 'ann@one.test',
        status: 'delivered',
        attempts: 1,
        nextAttemptAt: null,
        reply: /^250 /,
      },
    ],
  })
  t.ok(email.sentAt)
  t.equal(rig.mx.messages.length, 1)
  const [message] = rig.mx.messages
  t.same(message?.to, ['ann@one.test'])
  t.match(message?.from, /^ba[a-z2-7]{29}@bounce\.sender\.test$/)
  const raw = message?.raw.toString('latin1') ?? ''
  t.match(raw, /^DKIM-Signature: [\s\S]*DKIM-Signature: /)
  t.match(raw, `Message-ID: <${id}@sender.test>\r\n`)
  t.match(raw, 'Subject: =?UTF-8?')
  t.match(raw, `CFBL-Address: ${message?.from}; report=arf\r\n`, 'this copy’s own token')
  t.match(raw, /^DKIM-Signature: [^;]*;[\s\S]*?cfbl-address:\s*cfbl-address;/)
})

t.test('every recipient is a delivery of its own, and sees all of them in To', async (t) => {
  const rig = await outboundRig(t)
  const id = await rig.send({ to: ['a@one.test', 'b@one.test', 'c@two.test', 'a@ONE.test'] })
  const email = await rig.becomes(id, 'delivered')
  t.same(
    email.recipients.map((r) => [r.email, r.status]),
    [
      ['a@one.test', 'delivered'],
      ['b@one.test', 'delivered'],
      ['c@two.test', 'delivered'],
    ],
  )
  t.equal(rig.mx.messages.length, 3)
  t.equal(new Set(rig.mx.messages.map((m) => m.from)).size, 3)
  for (const message of rig.mx.messages) {
    t.match(message.raw.toString(), /^To: a@one.test, b@one.test, c@two.test\r$/m)
  }
})

t.test('a 4xx is tried again by the schedule, then accepted', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, {
    clock,
    script: { rcpt: ['451 4.7.1 Greylisted, try again later', '450 4.2.0 busy', '250 ok'] },
  })
  const id = await rig.send({ to: 'a@one.test' })
  const deferred = await rig.until(id, (e) => e.recipients[0]?.attempts === 1)
  t.match(deferred, {
    status: 'sent',
    recipients: [{ status: 'deferred', reply: '451 4.7.1 Greylisted, try again later' }],
  })
  t.equal(
    Date.parse(deferred.recipients[0]?.nextAttemptAt ?? '') - clock.now(),
    5 * 60_000,
    'five minutes, with no jitter from this random',
  )
  await pass(rig, clock, 5 * 60_000 - 1_000)
  t.equal((await rig.email(id)).recipients[0]?.attempts, 1, 'not a second too early')
  await clock.advance(1_000)
  await rig.until(id, (e) => e.recipients[0]?.attempts === 2)
  await clock.advance(10 * 60_000)
  const done = await rig.becomes(id, 'delivered')
  t.match(done.recipients, [{ attempts: 3, status: 'delivered' }])
  t.equal(done.sentAt, deferred.sentAt, 'sentAt is when the first attempt began')
})

t.test('a 5xx that leaves no hope is final at once, at any command', async (t) => {
  for (const [phase, script] of Object.entries({
    mail: { mail: '550 5.7.1 not you' },
    rcpt: { rcpt: '550 5.1.1 <a@one.test> no such user' },
    data: { data: '554 5.7.1 no' },
    dot: { dot: '554 5.7.1 spam' },
  })) {
    const rig = await outboundRig(t, { script })
    const email = await rig.becomes(await rig.send({ to: 'a@one.test' }), 'bounced')
    t.match(email.recipients, [{ status: 'bounced', attempts: 1, reply: /^55\d / }], phase)
    t.equal(rig.mx.messages.length, 0)
    await rig.stop()
  }
})

t.test('a mail bounces if any of its recipients does, once none is left waiting', async (t) => {
  const rig = await outboundRig(t, {
    script: { rcpt: (line) => (/gone@/.test(line) ? '550 5.1.1 unknown' : '250 ok') },
  })
  const email = await rig.becomes(
    await rig.send({ to: ['a@one.test', 'gone@one.test'] }),
    'bounced',
  )
  t.same(email.recipients.map((r) => r.status).sort(), ['bounced', 'delivered'])
})

t.test('a drop in the middle of DATA is tried again', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, script: { midData: { afterBytes: 100, act: 'drop' } } })
  const id = await rig.send({ to: 'a@one.test' })
  const email = await rig.until(id, (e) => e.recipients[0]?.attempts === 1)
  t.match(email, {
    status: 'sent',
    recipients: [{ status: 'deferred', reply: /Connection lost at/ }],
  })
  rig.mx.change({ midData: undefined })
  // All of it had left, so it is in doubt.
  await clock.advance(70 * 60_000)
  await rig.becomes(id, 'delivered')
  t.equal(rig.mx.messages.length, 1)
})

t.test('nobody listening is tried again, and said in words', async (t) => {
  const clock = new FakeClock()
  const dns = { 'one.test': { a: ['127.0.0.8', '127.0.0.9'] } }
  const rig = await outboundRig(t, { clock, dns, config: { port: 1 } })
  const email = await rig.until(
    await rig.send({ to: 'a@one.test' }),
    (e) => e.recipients[0]?.attempts === 1,
  )
  t.match(email.recipients, [
    { status: 'deferred', reply: /^No connection \(connect\): .*ECONNREFUSED 127\.0\.0\.9/ },
  ])
  const row = await rig.store.read.selectFrom('queue').select('last_transcript').executeTakeFirst()
  t.match(row?.last_transcript, /^one\.test \[127\.0\.0\.8\]: No .*\none\.test \[127\.0\.0\.9\]:\n/)
})

t.test('answers that come before their commands are told as such', async (t) => {
  const ahead = { raw: '220 x\r\n250-x\r\n250 PIPELINING\r\n250 x\r\n250 x\r\n354 x\r\n250 x\r\n' }
  for (const [banner, told] of [
    [ahead, 'No connection (ehlo): unsolicited reply (it came before its command)'],
    ['250 x', 'No connection (banner): unexpected reply 250 x'],
    ['554 go away', '554 go away'],
  ] as const) {
    const rig = await outboundRig(t, { script: { banner } })
    const id = await rig.send({ to: 'a@one.test' })
    const email = await rig.until(id, ({ recipients }) => recipients[0]?.attempts === 1)
    t.match(email.recipients, [{ status: 'deferred', reply: told }])
  }
})

t.test('a banner that turns into a refusal counts as that refusal', async (t) => {
  const listed = '521 5.7.1 client is on a list'
  const verdicts: unknown[] = []
  for (const banner of [
    { last: `${listed}\r\n` },
    { last: `220-mx hello\r\n${listed}\r\n` },
    { last: `220-mx hello\r\n521-5.7.1 client is\r\n521 5.7.1 on a list\r\n` },
  ]) {
    const rig = await outboundRig(t, { script: { banner } })
    const id = await rig.send({ to: 'a@one.test' })
    const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts === 1)
    t.match(recipients, [{ status: 'deferred', reply: /^521 5\.7\.1 client is\s/ }])
    const { last_transcript: said } = await rig.store.read
      .selectFrom('queue')
      .select('last_transcript')
      .executeTakeFirstOrThrow()
    for (const line of banner.last.trimEnd().split('\r\n')) t.match(said, ` S: ${line}\n`)
    const [event] = await rig.store.read
      .selectFrom('events')
      .select('detail')
      .where('type', '=', 'deferred')
      .execute()
    verdicts.push(event?.detail)
  }
  t.equal(new Set(verdicts).size, 1, String(verdicts[0]))
})

t.test(
  'a server that may have taken a mail gets it four times at most, an hour apart',
  async (t) => {
    const clock = new FakeClock()
    const rig = await outboundRig(t, { clock, script: { dot: 'rst' } })
    const id = await rig.send({ to: 'a@one.test' })
    for (const attempt of [1, 2, 3]) {
      const { recipients } = await rig.until(id, (e) => e.recipients[0]?.attempts === attempt)
      t.match(recipients, [{ status: 'deferred', reply: /may have taken the message$/ }])
      const [{ nextAttemptAt, updatedAt } = {}] = recipients
      t.ok(Date.parse(nextAttemptAt ?? '') - Date.parse(updatedAt ?? '') >= 3_600_000)
      await pass(rig, clock, 70 * 60_000, 70 * 60_000)
    }
    const { recipients } = await rig.becomes(id, 'failed')
    t.match(recipients, [{ reply: /^Given up after 4 attempts\. .* may have taken the message$/ }])
    t.equal(rig.mx.unaccepted.length, 4)
  },
)

t.test('one loss after many refusals does not end a delivery', async (t) => {
  const clock = new FakeClock()
  const later = '450 4.2.1 not now'
  const rig = await outboundRig(t, {
    clock,
    script: { rcpt: [later, later, later, '250 ok'], dot: ['rst', '250 ok'] },
  })
  const id = await rig.send({ to: 'a@one.test' })
  await pass(rig, clock, 90 * 60_000, 10 * 60_000)
  t.match((await rig.email(id)).recipients, [{ status: 'deferred', attempts: 4 }])
  await pass(rig, clock, 72 * 60_000, 12 * 60_000)
  await rig.becomes(id, 'delivered')
})

t.test('a delivery that is never taken fails when its age is over', async (t) => {
  const clock = new FakeClock()
  const { outbound: defaults } = loadConfig({ env: {} })
  const transactional = { schedule: [600_000], maxAge: 1_500_000 }
  const rig = await outboundRig(t, {
    clock,
    script: { rcpt: '450 4.2.1 not now' },
    config: { retry: { ...defaults.retry, transactional } },
  })
  const id = await rig.send({ to: 'a@one.test' })
  for (const attempt of [1, 2]) {
    await rig.until(id, (e) => e.recipients[0]?.attempts === attempt)
    await clock.advance(600_000)
  }
  const email = await rig.becomes(id, 'failed')
  t.match(email.recipients, [
    {
      status: 'failed',
      attempts: 3,
      reply: 'Given up after 3 attempts. The last one: 450 4.2.1 not now',
    },
  ])
})

t.test('TLS', async (t) => {
  const certificates = await testCertificates(t)
  t.test('is used when offered, whatever the certificate', async (t) => {
    const rig = await outboundRig(t, { script: { tls: certificates.selfSigned } })
    await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
    t.equal(rig.mx.messages[0]?.tls, true)
    const row = await rig.store.read.selectFrom('deliveries').select('tls').executeTakeFirst()
    t.match(row?.tls, /^TLSv1\.3 TLS_\w+ \(unverified\)$/)
  })
  t.test('not offered: the mail goes in the clear', async (t) => {
    const rig = await outboundRig(t)
    await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
    t.equal(rig.mx.messages[0]?.tls, false)
  })
  t.test('broken: one retry in the clear, remembered for the next mail', async (t) => {
    const warned: object[] = []
    const rig = await outboundRig(t, {
      script: { tls: certificates.valid, startTls: { last: '220 go ahead\r\nnonsense' } },
      log: { ...silentLog, warn: (fields, message) => warned.push({ ...fields, message }) },
    })
    await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
    await rig.becomes(await rig.send({ to: 'b@two.test' }), 'delivered')
    const tried = rig.mx.sessions.filter((s) => s.commands.includes('STARTTLS')).length
    t.equal(tried, 1)
    t.equal(rig.mx.messages.length, 2)
    t.match(warned, [{ message: /^TLS is broken/, exchange: String, address: '127.0.0.1' }])
    const ended = rig.store.read.selectFrom('deliveries').select(['tls', 'transcript'])
    const [first, second] = await ended.orderBy('recipient').execute()
    const broken = /^mx\.test \[127\.0\.0\.1\]: TLS failed: .+\n\d+ S: 220 (.+\n)+\d+ C: STARTTLS\n/
    t.match(first, { tls: /^none: TLS failed: ./, transcript: broken })
    t.match(first?.transcript, /\nmx\.test \[127\.0\.0\.1\]:\n\d+ S: 220 /, 'and the second one')
    t.match(
      second,
      { tls: first?.tls ?? '', transcript: /^[^:]+:\n/ },
      'and why for all that go so',
    )
  })
})

t.test('routing', async (t) => {
  const host = { a: ['127.0.0.1'] }
  const mx = (exchange: string, preference = 10) => ({ exchange, preference })
  const cases = [
    ['null MX', { 'one.test': { mx: [mx('', 0)] } }, 'bounced', /null MX/],
    [
      'a domain that exists without mail or address',
      { 'one.test': {} },
      'deferred',
      /No mail server has an address/,
    ],
    ['DNS that fails', { 'one.test': { fail: 'SERVFAIL' } }, 'deferred', /DNS failed: .*SERVFAIL/],
    ['an address record alone', { 'one.test': host }, 'delivered', /^250/],
    [
      'the first MX dead',
      {
        'one.test': { mx: [mx('dead.test', 5), mx('mx.test')] },
        'dead.test': { a: ['127.0.0.9'] },
        'mx.test': host,
      },
      'delivered',
      /^250/,
    ],
  ] as const
  for (const [name, dns, status, reply] of cases) {
    t.test(name, async (t) => {
      const rig = await outboundRig(t, { dns })
      const id = await rig.send({ to: 'a@one.test' })
      const email = await rig.until(id, (e) => e.recipients[0]?.status === status)
      t.match(email.recipients[0]?.reply, reply)
    })
  }
  t.test('private addresses are refused unless configured', async (t) => {
    const dns = { 'one.test': { mx: [mx('mx.test')] }, 'mx.test': { a: ['10.1.2.3', '127.0.0.1'] } }
    const rig = await outboundRig(t, { dns, config: { allowPrivateAddresses: false } })
    const email = await rig.becomes(await rig.send({ to: 'a@one.test' }), 'bounced')
    t.match(email.recipients[0]?.reply, /No mail server that may be connected to/)
    t.equal(rig.mx.sessions.length, 0)
  })
  t.test('no address is final after hours', async (t) => {
    const clock = new FakeClock()
    const dns = { 'one.test': { mx: [mx('mx.test')] }, 'mx.test': {} }
    const rig = await outboundRig(t, { dns, clock })
    const id = await rig.send({ to: 'a@one.test' })
    await rig.until(id, (e) => e.recipients[0]?.status === 'deferred')
    await pass(rig, clock, 4 * 3_600_000)
    t.equal((await rig.email(id)).recipients[0]?.status, 'deferred', 'four hours are too few')
    await pass(rig, clock, 5 * 3_600_000)
    const { recipients } = await rig.becomes(id, 'bounced')
    t.match(recipients, [{ attempts: 7, reply: /^No mail server has an address: .*mx\.test/ }])
    const suppressed = await rig.store.read.selectFrom('suppressions').selectAll().execute()
    t.same(suppressed, [])
  })
  t.test('each MX is tried, whatever those before it say in greeting', async (t) => {
    const names = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.1']
    const hosts = names.map((address, i) => [`mx${i}.test`, { a: [address] }])
    const all = { mx: names.map((_, i) => mx(`mx${i}.test`, i)) }
    const rig = await outboundRig(t, { dns: { 'one.test': all, ...Object.fromEntries(hosts) } })
    const { port } = rig.mx
    for (const host of names.slice(0, 2)) {
      await fakeMx(t, { host, port, banner: '554 5.7.1 Not you' })
    }
    const id = await rig.send({ to: 'a@one.test' })
    const email = await rig.becomes(id, 'delivered')
    t.equal(email.recipients[0]?.attempts, 1)
    await rig.becomes(await rig.send({ to: 'b@one.test' }), 'delivered')
    const [first, second] = await rig.store.read
      .selectFrom('deliveries')
      .select('transcript')
      .orderBy('recipient')
      .execute()
    const tried = [
      'mx0.test [127.0.0.2]: 554 5.7.1 Not you',
      'mx1.test [127.0.0.3]: 554 5.7.1 Not you',
      `mx2.test [127.0.0.4]: No connection (connect): connect ECONNREFUSED 127.0.0.4:${port}`,
      'mx3.test [127.0.0.1]:',
    ]
    t.match(first?.transcript, tried.join('\n'), 'and told, with the words of each')
    t.notMatch(second?.transcript, 'mx0.test', 'but once')
    t.match(
      second?.transcript,
      /^mx3\.test \[127\.0\.0\.1\]:\n\d+ S: 220 /,
      'with whom is always told',
    )
  })
  t.test('NXDOMAIN is final only the second time', async (t) => {
    const clock = new FakeClock()
    const rig = await outboundRig(t, { dns: {}, clock })
    const id = await rig.send({ to: 'a@typo.test' })
    await rig.until(id, (e) => e.recipients[0]?.status === 'deferred')
    await pass(rig, clock, 30 * 60_000)
    t.equal((await rig.email(id)).recipients[0]?.attempts, 1, 'half an hour is too soon')
    await clock.advance(40 * 60_000)
    t.match((await rig.becomes(id, 'bounced')).recipients[0]?.reply, /NXDOMAIN/)
  })
  t.test('NXDOMAIN is asked twice where there is less than an hour', async (t) => {
    const clock = new FakeClock()
    const { retry } = loadConfig({ env: {} }).outbound
    const transactional = { ...retry.transactional, maxAge: 30 * 60_000 }
    const config = { retry: { ...retry, transactional } }
    const rig = await outboundRig(t, { dns: {}, clock, config })
    const id = await rig.send({ to: 'a@typo.test' })
    const { recipients } = await rig.until(id, (e) => e.recipients[0]?.status === 'deferred')
    t.equal(Date.parse(recipients[0]?.nextAttemptAt ?? '') - clock.now(), 15 * 60_000)
    await clock.advance(16 * 60_000)
    t.match((await rig.becomes(id, 'bounced')).recipients[0]?.attempts, 2)
  })
})

t.test('connections are reused, up to their limit of messages', async (t) => {
  const rig = await outboundRig(t, {
    shaping: shapedTo({ connections: 1, messages: 4 }),
    stopped: true,
  })
  const ids = await Promise.all(
    Array.from({ length: 10 }, (_, i) => rig.send({ to: `r${i}@one.test` })),
  )
  await rig.start()
  for (const id of ids) await rig.becomes(id, 'delivered')
  t.equal(rig.mx.sessions.length, 3)
  t.equal(rig.mx.messages.length, 10)
})

t.test('a connection that the server closed while idle costs the mail no attempt', async (t) => {
  const rig = await outboundRig(t)
  await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
  await rig.mx.interject('421 4.4.2 idle for too long')
  await rig.mx.interject('drop')
  const second = await rig.becomes(await rig.send({ to: 'b@one.test' }), 'delivered')
  t.equal(second.recipients[0]?.attempts, 1)
  t.equal(rig.mx.sessions.length, 2)
})
