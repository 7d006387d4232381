import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import t from 'tap'
import { beginRun, endRun, keepHandled } from '../../src/calendar/index.js'
import { systemClock } from '../../src/clock/index.js'
import { jobCatalogue, loadConfig, readSchedule } from '../../src/config/index.js'
import { checkOperator, judgeDisk } from '../../src/doctor/appliance.js'
import { recordSettings, spfMechanisms } from '../../src/domains/index.js'
import { FakeClock } from '../support/clock.js'
import { doctorRig } from '../support/doctor.js'
import { makeTempDir } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

t.test('a healthy appliance is told so, check by check', async (t) => {
  const { examine } = await doctorRig(t)
  const found = (await examine()).filter(({ check }) => !['disk', 'runtime'].includes(check))
  t.same(
    found.filter(({ state }) => state !== 'ok').map(({ check }) => check),
    ['public-url', 'certificate', 'backup', 'operator'],
    'but for the address of links, STARTTLS, backups and the operator, which are not set up',
  )
  const checks =
    'backup blocklist certificate clock dkim dmarc dns helo jobs listener operator outbound-port ptr public-url report return-path spf tls-reports warm-up'
  t.same([...new Set(found.map(({ check }) => check))].sort(), checks.split(' '))
  t.ok(
    found.every(({ state, fix }) => (state === 'ok') === (fix === '')),
    'a fix where it is due',
  )
})

t.test('outbound port 25', async (t) => {
  const { look, mx, resolver, examine } = await doctorRig(t)
  t.match(await look('outbound-port'), [
    { subject: '127.0.0.1', state: 'ok', found: /^mx\.probe\.test \[127\.0\.0\.1\] answers/ },
  ])
  mx.change({ banner: '554 5.7.1 127.0.0.1 is on our list' })
  t.match(await look('outbound-port'), [{ state: 'warn', found: /is on our list/ }])
  mx.change({ banner: 'hang' })
  t.match(await look('outbound-port'), [
    { state: 'fail', fix: /^ask the provider of this machine to open outbound TCP port \d+, or/ },
  ])
  resolver.set('probe.test', { fail: 'SERVFAIL' })
  t.match(await look('outbound-port'), [
    { state: 'unchecked', found: /probe\.test: .*SERVFAIL/, fix: /^see to this machine's DNS/ },
  ])
  resolver.set('probe.test', undefined)
  t.match(await look('outbound-port'), [{ state: 'fail', fix: /^see to this machine's DNS/ }])
  resolver.set('probe.test', { a: ['127.0.0.1'] })
  const elsewhere = await examine({ sourceAddresses: ['192.0.2.1'] })
  t.match(
    elsewhere.find(({ check }) => check === 'outbound-port'),
    { state: 'fail', found: /EADDRNOTAVAIL/, fix: /give this machine the address 192\.0\.2\.1/ },
  )
})

t.test('the EHLO name, its addresses and their names', async (t) => {
  const { look, resolver, examine } = await doctorRig(t)
  resolver.set('mail.posthorn.test', { a: ['127.0.0.9'] })
  resolver.set('127.0.0.1', { ptr: ['vps-1.provider.test'] })
  t.match(await look('helo'), [
    {
      state: 'fail',
      found: 'mail.posthorn.test resolves to 127.0.0.9',
      fix: 'publish mail.posthorn.test. 3600 IN A 127.0.0.1',
    },
  ])
  t.match(await look('ptr'), [
    {
      subject: '127.0.0.1',
      state: 'fail',
      found: 'leads to vps-1.provider.test',
      fix: /set its reverse DNS \(PTR\) to mail\.posthorn\.test$/,
    },
  ])
  resolver.set('127.0.0.1', { fail: 'SERVFAIL' })
  t.match(await look('ptr'), [{ state: 'unchecked', found: /no answer of the DNS \(SERVFAIL\)/ }])
  const of = async (outbound: { heloName: string; sourceAddresses: string[] }) =>
    (await examine(outbound)).filter(({ check }) => check === 'helo')
  t.match(await of({ heloName: 'localhost', sourceAddresses: [] }), [
    { state: 'fail', fix: /^set outbound\.helo_name = / },
  ])
  t.match(await of({ heloName: 'none.test', sourceAddresses: [] }), [
    { state: 'fail', found: 'has no address' },
  ])
  resolver.set('six.test', { aaaa: ['2001:DB8::1'] })
  resolver.set('2001:db8:0::1', { ptr: ['six.test'] })
  t.match(await of({ heloName: 'six.test', sourceAddresses: ['2001:db8:0::1'] }), [
    { state: 'ok', found: 'six.test resolves to it' },
  ])
  // Behind 1:1 NAT the address that the world sees is looked at, and is the one of SPF records.
  resolver.set('nat.test', { a: ['198.51.100.7'] })
  resolver.set('198.51.100.7', { ptr: ['nat.test'] })
  const natted = {
    heloName: 'nat.test',
    sourceAddresses: ['127.0.0.1'],
    seenAs: { '127.0.0.1': '198.51.100.7' },
  }
  t.match(
    (await examine(natted)).filter(({ check }) => ['helo', 'ptr'].includes(check)),
    [
      { subject: '198.51.100.7', state: 'ok' },
      { subject: '198.51.100.7', state: 'ok' },
    ],
  )
  t.same(spfMechanisms({ ...recordSettings(loadConfig({ env: {} })), ...natted }), [
    'ip4:198.51.100.7',
  ])
  const file = join(makeTempDir(t), 'posthorn.toml')
  for (const table of ['"10.0.0.5" = "2001:db8::1"', 'host = "192.0.2.1"', '"10.0.0.5" = ""']) {
    writeFileSync(file, `[outbound]\nseen_as = { ${table} }\n`)
    t.throws(() => loadConfig({ file, env: {} }), /outbound\.seen_as: .+ expected a table/)
  }
})

t.test('what a domain publishes', async (t) => {
  const { look, resolver, recordOf, publish } = await doctorRig(t)
  const dkim = recordOf('dkim-rsa')
  resolver.set(dkim?.host ?? '', undefined)
  const [missing] = await look('dkim', 'shop.test')
  t.match(missing, { state: 'fail', found: /^TXT of ph\w+\._domainkey\.shop\.test is missing$/ })
  t.ok(
    missing?.fix.startsWith(`publish ${dkim?.host}. 3600 IN TXT "v=DKIM1; `),
    'the record, ready to paste',
  )
  t.match(await look('dmarc'), [{ state: 'warn', found: 'p=none, aligned by SPF' }])

  resolver.set('_dmarc.shop.test', { txt: ['v=DMARC1; p=reject; aspf=s'] })
  t.match(await look('dmarc'), [{ state: 'fail', found: 'p=reject, aligned by nothing' }])
  resolver.set('_dmarc.shop.test', undefined)
  t.match(await look('dmarc'), [
    {
      state: 'warn',
      found: 'no policy',
      fix: 'publish _dmarc.shop.test. 3600 IN TXT "v=DMARC1; p=none; rua=mailto:dmarc@mail.posthorn.test"',
    },
  ])
  resolver.set('_dmarc.shop.test', { txt: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] })
  t.match(await look('dmarc'), [{ state: 'warn', found: /several policies/ }])

  publish(dkim?.host ?? '', 'TXT', dkim?.value ?? '')
  resolver.set('_dmarc.shop.test', { txt: ['v=DMARC1; p=quarantine'] })
  resolver.set('bounce.shop.test', { txt: ['v=spf1 -all'] })
  t.match(await look('return-path'), [
    {
      state: 'fail',
      fix: 'publish bounce.shop.test. 3600 IN MX 10 mail.posthorn.test.',
    },
  ])
  t.match(await look('spf', 'shop.test'), [
    {
      state: 'warn',
      found: /is v=spf1 -all$/,
      fix: /^replace it by bounce\.shop\.test\. 3600 IN TXT "v=spf1 ip4:127\.0\.0\.1 -all"$/,
    },
  ])
  t.match(await look('dmarc'), [{ state: 'ok', found: 'p=quarantine, aligned by DKIM' }])

  resolver.set('bounce.shop.test', { fail: 'SERVFAIL' })
  t.match(await look('spf', 'shop.test'), [{ state: 'unchecked', found: /no answer of the DNS/ }])
  resolver.set('mail.posthorn.test', { a: ['127.0.0.1'] })
  t.match(await look('spf', 'mail.posthorn.test'), [
    { fix: 'publish mail.posthorn.test. 3600 IN TXT "v=spf1 ip4:127.0.0.1 -all"' },
  ])
})

t.test('a domain that is trusted, but that nobody can verify', async (t) => {
  const { look, store, resolver, recordOf } = await doctorRig(t)
  await store.write((tx) => tx.updateTable('domains').set({ trusted: 1 }).execute())
  const missing = (purpose: string) => resolver.set(recordOf(purpose)?.host ?? '', undefined)
  const states = async () => (await look('dkim')).map(({ state }) => state)
  t.same(await states(), ['ok', 'ok'])
  missing('dkim-rsa')
  t.same(await states(), ['warn', 'ok'], 'the other key still signs')
  missing('dkim-ed25519')
  t.same(await states(), ['fail', 'warn'])
})

t.test(
  'new keys of a trusted domain wait for somebody, as nobody looks at its records',
  async (t) => {
    const { look, store } = await doctorRig(t)
    const rotating = { stage: 'next', verified: 0 } as const
    await store.write((tx) =>
      tx.updateTable('dkim_keys').set(rotating).where('algorithm', '=', 'ed25519-sha256').execute(),
    )
    const next = async () =>
      (await look('dkim')).filter(({ found }) => /being replaced/.test(found))
    t.match(await next(), [{ state: 'ok', found: /signs within minutes/ }])
    await store.write((tx) => tx.updateTable('domains').set({ trusted: 1 }).execute())
    t.match(await next(), [
      { state: 'warn', found: /signs when you say so/, fix: 'posthorn domain verify shop.test' },
    ])
  },
)

t.test('a loopback address is no address to send from', async (t) => {
  const { look } = await doctorRig(t, {
    env: { POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'false' },
  })
  t.match(await look('helo'), [
    { subject: '127.0.0.1', state: 'fail', found: /loopback/, fix: /its pool.*outbound\.seen_as/ },
  ])
})

t.test('the way back: return paths lead to this appliance', async (t) => {
  const { look, mx, resolver } = await doctorRig(t)
  const found = await look('listener')
  t.same(
    found.map(({ subject, state }) => [subject, state]),
    [
      ['mail.posthorn.test', 'ok'],
      ['bounce.shop.test', 'ok'],
    ],
  )
  t.match(mx.messages, [{ from: '' }, { from: '' }], 'as bounces come')
  // Of several nodes, of which any takes a bounce.
  resolver.set('mail2.posthorn.test', { a: ['127.0.0.9'] })
  const hosts = ['mail2', 'mail'].map((name) => `${name}.posthorn.test`)
  resolver.set('bounce.shop.test', {
    mx: hosts.map((exchange, preference) => ({ preference, exchange })),
  })
  t.match(await look('listener', 'bounce.shop.test'), [
    { state: 'ok', found: 'mail.posthorn.test [127.0.0.1] is this appliance' },
  ])
  mx.change({ rcpt: '250 Anybody' })
  t.match(await look('listener', 'bounce.shop.test'), [
    {
      state: 'fail',
      found: 'mail.posthorn.test [127.0.0.1] takes any address',
      fix: /another server's: publish bounce\.shop\.test\. 3600 IN MX 10 mail\.posthorn\.test\.$/,
    },
  ])
  mx.change({ rcpt: '550 5.1.1 Unknown' })
  t.match(await look('listener', 'bounce.shop.test'), [
    { state: 'fail', found: /refuses our return path: 550 .*Unknown$/ },
  ])
  resolver.set('mail.posthorn.test', { a: ['127.0.0.9'] })
  t.match(await look('listener', 'bounce.shop.test'), [
    { state: 'fail', found: /\[127\.0\.0\.9\]: .*ECONNREFUSED/, fix: /^open inbound TCP port/ },
  ])
  resolver.set('mail.posthorn.test', { txt: ['v=spf1 -all'] })
  t.match(await look('listener', 'mail.posthorn.test'), [
    { state: 'fail', found: 'bounces have nowhere to go' },
  ])
  for (const mx of [[], [{ preference: 10, exchange: 'mx.elsewhere.test' }]]) {
    resolver.set('bounce.shop.test', { mx })
    t.same(await look('listener', 'bounce.shop.test'), [], 'told once, with its records')
    t.match(await look('return-path'), [{ state: 'fail', fix: /MX 10 mail\.posthorn\.test/ }])
  }
})

t.test('blocklists', async (t) => {
  const { look, resolver } = await doctorRig(t)
  resolver.set('1.0.0.127.list.test', { a: ['127.0.0.4'], txt: ['see https://list.test/why'] })
  t.match(await look('blocklist'), [
    {
      state: 'fail',
      found: 'listed by list.test (127.0.0.4): see https://list.test/why',
      fix: /ask for removal at the site of list\.test/,
    },
  ])
  // Spamhaus says to users of public resolvers that every address is an error.
  resolver.set('1.0.0.127.list.test', { a: ['127.255.255.254'] })
  t.match(await look('blocklist'), [
    { state: 'unchecked', found: /^could not ask list\.test: it refuses public resolvers/ },
  ])
  for (const [why, host] of [
    ['SERVFAIL', { fail: 'SERVFAIL' }],
    ['10.0.0.1, which is not an answer', { a: ['10.0.0.1'] }],
  ] as const) {
    resolver.set('1.0.0.127.list.test', host)
    t.match(await look('blocklist'), [{ state: 'unchecked', found: why }], why)
  }
  resolver.set('1.0.0.127.list.test', undefined)
  t.match(await look('blocklist'), [{ state: 'ok', found: 'not listed by list.test' }])
  resolver.set('2.0.0.127.list.test', undefined)
  t.match(
    await look('blocklist'),
    [{ state: 'unchecked', found: /does not name its own test entry/ }],
    'silence is no acquittal',
  )
})

t.test('blocklists and IPv6 addresses', async (t) => {
  const { look, resolver } = await doctorRig(t, {
    env: { POSTHORN_OUTBOUND_SOURCE_ADDRESSES: '2001:db8::7' },
  })
  t.match(await look('blocklist'), [{ state: 'ok', found: 'list.test names no IPv6 addresses' }])
  resolver.set('2.0.0.0.0.0.f.7.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.list.test', {
    a: ['127.0.0.2'],
  })
  t.match(await look('blocklist'), [{ state: 'ok', found: 'not listed by list.test' }])
  resolver.set('7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.list.test', {
    a: ['127.0.0.2'],
  })
  t.match(await look('blocklist'), [{ subject: '2001:db8::7', state: 'fail' }])
})

t.test('the clock', async (t) => {
  const { look, time } = await doctorRig(t)
  for (const [ahead, state, found] of [
    [300, 'ok', /^0\.\d s slow by 1 time servers$/],
    [-5_000, 'warn', /^5\.\d s fast/],
    [90_000, 'fail', /^90\.\d s slow/],
  ] as const) {
    time.ahead = ahead
    t.match(await look('clock'), [{ state, found }], `${ahead} ms`)
  }
  time.ahead = 0
  for (const [what, spoil] of [
    ['an answer to another question', (reply: Buffer) => reply.fill(0, 24, 32)],
    ['a refusal', (reply: Buffer) => reply.fill(0, 1, 2)],
  ] as const) {
    time.spoil = spoil
    t.match(await look('clock'), [{ state: 'unchecked', found: /^no time server answered/ }], what)
  }
})

t.test('the certificate of the public address', async (t) => {
  const certificates = await testCertificates(t, 'links.test')
  const server = createServer({ ...certificates.valid })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  let passed = 0
  const { look, resolver } = await doctorRig(t, {
    ca: certificates.ca.cert,
    clock: { ...systemClock, now: () => Date.now() + passed },
    env: { POSTHORN_HTTP_PUBLIC_URL: `https://links.test:${port}` },
  })
  t.match(await look('certificate'), [{ state: 'fail', found: 'the host has no address' }])
  resolver.set('links.test', { a: ['127.0.0.1'] })
  t.match(await look('certificate'), [{ state: 'ok', found: /^good for (29|30) more days$/ }])
  passed = 27 * 86_400_000
  t.match(await look('certificate'), [{ state: 'warn', fix: /^renew the certificate/ }])
  passed = 0
  for (const [name, found] of [
    ['expired', /^expired \d days ago$/],
    ['wrongName', /for another name/],
    ['selfSigned', /SELF_SIGNED/],
  ] as const) {
    server.setSecureContext(certificates[name])
    t.match(await look('certificate'), [{ state: 'fail', found }], name)
  }
  resolver.set('links.test', { a: ['127.0.0.9'] })
  t.match(await look('certificate'), [{ state: 'fail', found: /ECONNREFUSED/ }])
})

t.test('the certificate of the listener', async (t) => {
  const certificates = await testCertificates(t, 'mail.posthorn.test')
  const found = async ({ certFile, keyFile }: { certFile: string; keyFile: string }) => {
    const { look } = await doctorRig(t, {
      env: {
        POSTHORN_INBOUND_TLS_CERTIFICATE: certFile,
        POSTHORN_INBOUND_TLS_KEY: keyFile,
      },
    })
    return (await look('certificate', 'inbound listener'))[0]
  }
  t.match(await found(certificates.valid), { state: 'ok', found: /^good for/ })
  t.match(await found(certificates.expired), { state: 'fail', found: /^expired/ })
  t.match(await found(certificates.wrongName), {
    state: 'fail',
    found: 'the certificate is not for mail.posthorn.test',
  })
  t.match(await found(certificates.selfSigned), {
    state: 'ok',
    found: /^self-signed, which is enough for those who report; good for \d+ more days$/,
  })
  t.match(await found({ ...certificates.valid, keyFile: '/nowhere' }), {
    state: 'fail',
    found: /ENOENT/,
  })
})

t.test('a bounce and a complaint to its own listener', async (t) => {
  const { look, mx, store } = await doctorRig(t)
  t.match(await look('report'), [
    { subject: 'a bounce', state: 'ok', found: /^taken and read in \d+ ms$/ },
    { subject: 'a complaint', state: 'ok' },
  ])
  await store.write((tx) =>
    tx
      .insertInto('inbound_spool')
      .values({
        id: 1,
        received_at: Date.now() + 60_000,
        due_at: 0,
        mail_from: '',
        helo: '',
        remote_address: '127.0.0.1',
        recipients: '["feedback@mail.posthorn.test"]',
        tries: 0,
        raw: Buffer.alloc(0),
      })
      .execute(),
  )
  t.match(await look('report', 'a complaint'), [{ state: 'fail', found: 'taken but not read' }])
  mx.change({ rcpt: '550 5.7.1 No' })
  t.match(await look('report', 'a bounce'), [{ state: 'fail', found: /^refused at 127\.0\.0\.1/ }])
})

t.test('that nobody is told is said with the setting', async (t) => {
  const ask = (env: Record<string, string>) => checkOperator({ config: loadConfig({ env }) })
  t.match(await ask({}), [
    { state: 'warn', found: /nobody is told/, fix: /^set operator\.notify / },
  ])
  t.match(await ask({ POSTHORN_OPERATOR_NOTIFY: 'me@example.net' }), [
    { subject: 'me@example.net', state: 'ok', fix: '' },
  ])
  t.match(await ask({ POSTHORN_OPERATOR_COMMAND: '/usr/bin/page' }), [{ state: 'ok' }])
})

t.test('room on the disk', (t) => {
  const GiB = 1024 ** 3
  for (const [free, total, state] of [
    [50, 1_000, 'ok'],
    [6, 50, 'ok'],
    [4, 50, 'warn'],
    [0.1, 50, 'fail'],
  ] as const) {
    const found = judgeDisk('/var', { freeBytes: free * GiB, totalBytes: total * GiB }, 0)
    t.equal(found.state, state, `${free} of ${total} GiB`)
  }
  const MiB = 1024 ** 2
  const small = { freeBytes: 20 * MiB, totalBytes: 100 * MiB }
  t.equal(judgeDisk('/var', small, undefined).found, '20 MiB of 100 MiB free')
  t.match(judgeDisk('/var', small, 0), {
    state: 'fail',
    found: /^20 MiB of 100 MiB free: if mail was refused .* until 25 MiB are free$/,
  })
  // A new installation has no reserve where it would take more than half of what is free.
  const room = { freeBytes: 230 * MiB, totalBytes: 50 * GiB }
  const refuses = judgeDisk('/var', room, 0)
  t.match(refuses, {
    state: 'fail',
    found: /: with less than 240 MiB Posthorn takes no mail \(503\)$/,
  })
  t.equal(judgeDisk('/var', room, undefined).state, 'warn', 'a sandbox takes mail until it is full')
  t.match(judgeDisk('/var', room, 160 * MiB), { state: 'warn', found: '230 MiB of 50.0 GiB free' })
  const rest = { freeBytes: 79 * MiB, totalBytes: 50 * GiB }
  t.match(judgeDisk('/var', rest, 160 * MiB), { state: 'fail', found: /with less than 80 MiB/ })
  t.end()
})

t.test('in the sandbox nothing that concerns the world is a failure', async (t) => {
  const { examine, resolver, time } = await doctorRig(t)
  resolver.set('127.0.0.1', undefined)
  time.ahead = 90_000
  const found = await examine({ route: 'sandbox' })
  t.match(
    found.find(({ check }) => check === 'ptr'),
    { state: 'warn', fix: /PTR/ },
  )
  t.match(
    found.find(({ check }) => check === 'clock'),
    { state: 'fail' },
  )
})

t.test('a job of the calendar that failed, or does not come any more', async (t) => {
  const clock = new FakeClock()
  const { look, store } = await doctorRig(t, { clock })
  t.match(await look('jobs'), [{ state: 'ok' }])
  const now = clock.now()
  const name = 'optimize'
  await store.write(async (tx) => {
    const id = await beginRun(tx, { name, dueAt: now, beganAt: now })
    await endRun(tx, id, { endedAt: now, result: 'failed', error: 'The disk is full' })
  })
  t.match(await look('jobs'), [
    { subject: name, state: 'fail', found: /failed: The disk is full/, fix: /posthorn job run/ },
  ])
  const { cron } = jobCatalogue[name]
  const schedule = readSchedule(cron, 'UTC')
  const until = now - 3.5 * schedule.period(now)
  await store.write((tx) => keepHandled(tx, name, { schedule: schedule.text, until }))
  t.match(await look('jobs'), [
    { subject: name, state: 'fail', found: /has not run since/, fix: /systemctl status/ },
  ])
})

t.test('a DNS that is silent is told once, and what needs it as not checked', async (t) => {
  const { look, silence, examine } = await doctorRig(t)
  t.match(await look('dns'), [{ state: 'ok', found: 'it answers' }])
  silence()
  const found = await examine()
  t.match(found[0], {
    check: 'dns',
    subject: '/etc/resolv.conf',
    state: 'fail',
    found: /^does not answer \(mail\.posthorn\.test: SERVFAIL; probe\.test: SERVFAIL\)$/,
    fix: /name servers \(dns\.servers/,
  })
  t.same(
    found.filter(({ state }) => state === 'fail').map(({ check }) => check),
    ['dns', 'public-url'],
    'no record is told as missing or wrong',
  )
  const unchecked = found.filter(({ state }) => state === 'unchecked')
  const names = 'blocklist dkim dmarc helo listener outbound-port ptr return-path spf'
  t.same([...new Set(unchecked.map(({ check }) => check))].sort(), names.split(' '))
  for (const one of unchecked) t.match(one, { found: 'needs the DNS', fix: '' }, one.check)
  const lines = unchecked.map(({ check, subject }) => `${check} ${subject}`)
  t.equal(new Set(lines).size, lines.length, 'each once')
  t.match(
    found.find(({ check }) => check === 'report'),
    { state: 'ok' },
    'what needs no DNS is checked',
  )
})

t.test('names of the settings are no sign that the DNS answers', async (t) => {
  const { examine, silence } = await doctorRig(t, {
    dnsStatic: { 'mail.posthorn.test': { a: ['127.0.0.1'] } },
  })
  silence()
  const found = await examine()
  t.match(found[0], { check: 'dns', state: 'fail', found: /^does not answer \(probe\.test: / })
  t.match(
    found.find(({ check }) => check === 'helo'),
    { state: 'ok' },
    'and are looked up there, DNS or not',
  )
})

t.test('where only the key is not answered for, alignment is not judged', async (t) => {
  const { look, resolver, recordOf } = await doctorRig(t)
  resolver.set('_dmarc.shop.test', { txt: ['v=DMARC1; p=reject; aspf=s'] })
  resolver.set(recordOf('dkim-rsa')?.host ?? '', { fail: 'SERVFAIL' })
  t.match(await look('dmarc'), [{ state: 'unchecked', found: /DKIM key: no answer of the DNS/ }])
})
