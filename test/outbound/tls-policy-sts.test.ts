import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { StaticRecords } from '../../src/dns/index.js'
import { silentLog } from '../../src/log/index.js'
import { type FetchPolicy, makePolicyFetcher } from '../../src/outbound/tls-policy/index.js'
import { makeStsPolicies } from '../../src/outbound/tls-policy/sts.js'
import { coversHost, parseStsPolicy, readStsId } from '../../src/outbound/tls-policy/sts-text.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { type TestCertificate, testCertificates } from '../support/tls.js'

const certificates = await testCertificates(t, 'mta-sts.one.test')
const good =
  'version: STSv1\r\nmode: enforce\r\nmx: mx.one.test\r\nmx: *.two.test\r\nmax_age: 86400\r\n'

t.test('the id in the TXT record', async (t) => {
  const rows: [string[], string | undefined][] = [
    [['v=STSv1; id=20260101T000000;'], '20260101T000000'],
    [['v=STSv1;id=a'], 'a'],
    [['v=STSv1 ; ext=x; id=1 ;'], '1'],
    [['v=spf1 -all', 'v=STSv1; id=1;', 'v=STSv10; id=2'], '1'],
    [['v=STSv1; id=1;', 'v=STSv1; id=2;'], undefined],
    [['v=STSv1; id=1;', 'v=STSv1; id=1;'], undefined],
    [['v=STSv1; id=1; id=2'], undefined],
    [['v=STSv1;'], undefined],
    [['v=STSv1; id='], undefined],
    [['v=STSv1; id=with-dash;'], undefined],
    [[`v=STSv1; id=${'a'.repeat(33)}`], undefined],
    [['id=1; v=STSv1'], undefined],
    [['v=stsv1; id=1'], undefined],
    [[], undefined],
  ]
  for (const [records, id] of rows) t.equal(readStsId(records), id, records.join(' | '))
})

t.test('the text of a policy', async (t) => {
  const policy = { mode: 'enforce', mx: ['mx.one.test', '*.two.test'], maxAgeS: 86_400 }
  const text = (...lines: string[]) => lines.join('\n')
  const head = ['version: STSv1', 'mode: enforce', 'mx: mx.one.test']
  const good = [
    text(...head, 'mx: *.two.test', 'max_age: 86400'),
    `${text(...head, 'mx: *.two.test', 'max_age: 86400').replaceAll('\n', '\r\n')}\r\n`,
    text('max_age:86400', 'mx:MX.one.TEST.', 'mode:enforce', 'version:STSv1', 'mx:  *.two.test \t'),
    text(...head, 'mx: *.two.test', 'max_age: 86400', 'mode: none', 'max_age: 1', 'new_field: ü'),
  ]
  for (const body of good) t.same(parseStsPolicy(body), policy, body)
  t.same(parseStsPolicy(text('version: STSv1', 'mode: none', 'max_age: 0')), {
    mode: 'none',
    mx: [],
    maxAgeS: 0,
  })
  t.match(parseStsPolicy(text(...head, 'max_age: 31557600')), { maxAgeS: 31_557_600 })

  const bad: [string, RegExp][] = [
    ['', /version/],
    ['<!doctype html><title>Not found</title>', /not a field/],
    [text('version: STSv2', 'mode: enforce', 'mx: a.test', 'max_age: 1'), /version/],
    [text('version: STSv1', 'mx: a.test', 'max_age: 1'), /no mode/],
    [text('version: STSv1', 'mode: Enforce', 'mx: a.test', 'max_age: 1'), /no mode/],
    [text('version: STSv1', 'mode: enforce', 'max_age: 1'), /no mx/],
    [text(...head), /max_age/],
    [text(...head, 'max_age: 31557601'), /max_age/],
    [text(...head, 'max_age: -1'), /max_age/],
    [text(...head, 'max_age: 1e3'), /max_age/],
    [text(...head, 'max_age: 86400', 'mx: *'), /mx/],
    [text(...head, 'max_age: 86400', 'mx: a.*.test'), /mx/],
    [text(...head, 'max_age: 86400', 'mx: *.*.test'), /mx/],
    [text(...head, 'max_age: 86400', 'mx: .two.test'), /mx/],
    [text(...head, 'max_age: 86400', 'mx: 192.0.2.1'), /mx/],
    [text(...head, 'max_age: 86400', 'mx:'), /mx/],
    [text(...head, 'max_age: 86400', 'no colon'), /not a field/],
    [text(...head, 'max_age: 86400', 'a: \x07'), /not a field/],
    [text(...head, 'max_age: 86400', `a: ${'x'.repeat(1_000)}`), /1003 characters/],
    [text(...head, 'max_age: 86400', ...Array<string>(1_001).fill('mx: a.test')), /1002 lines/],
  ]
  for (const [body, wrong] of bad) t.match(parseStsPolicy(body), { wrong }, body.slice(0, 80))
})

t.test('a wildcard is one label, the left-most', async (t) => {
  const rows: [string, boolean][] = [
    ['mx.one.test', true],
    ['a.mx.one.test', false],
    ['one.test', false],
    ['a.two.test', true],
    ['a.b.two.test', false],
    ['two.test', false],
    ['.two.test', false],
    ['', false],
  ]
  for (const [host, covered] of rows) {
    t.equal(coversHost(['mx.one.test', '*.two.test'], host), covered, host)
  }
})

type Respond = (request: IncomingMessage, response: ServerResponse) => void

/** A web server that plays the policy host; `answer` changes what it says. */
async function policyHost(t: Test, certificate: TestCertificate = certificates.valid) {
  const requests: string[] = []
  let respond: Respond = (_, response) => text(response, good)
  const server = createServer(
    { cert: certificate.cert, key: certificate.key },
    (request, reply) => {
      requests.push(`${request.method} ${request.headers.host} ${request.url}`)
      respond(request, reply)
    },
  )
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    answer: (next: Respond) => {
      respond = next
    },
  }
}

function text(response: ServerResponse, body: string, type = 'text/plain; charset=utf-8') {
  response.writeHead(200, { 'content-type': type }).end(body)
}

const atLoopback: StaticRecords = { 'mta-sts.one.test': { a: ['127.0.0.1'] } }

function fetcher(
  port: number,
  options: { dns?: StaticRecords; clock?: FakeClock; allow?: boolean; signal?: AbortSignal } = {},
): FetchPolicy {
  return makePolicyFetcher({
    resolver: fakeResolver(options.dns ?? atLoopback),
    clock: options.clock ?? new FakeClock(),
    allowPrivateAddresses: options.allow ?? true,
    signal: options.signal ?? new AbortController().signal,
    ca: certificates.ca.cert,
    port,
  })
}

t.test('fetching a policy', async (t) => {
  const web = await policyHost(t)
  const fetchPolicy = fetcher(web.port)

  t.test('asks for the well-known file', async (t) => {
    t.same(await fetchPolicy('one.test'), { body: good })
    t.same(web.requests, [`GET mta-sts.one.test:${web.port} /.well-known/mta-sts.txt`])
  })
  t.test('takes no other address than the resolver gave, and tries all of those', async (t) => {
    const dns = { 'mta-sts.one.test': { a: ['127.0.0.9', '127.0.0.1'], aaaa: ['::1'] } }
    t.same(await fetcher(web.port, { dns })('one.test'), { body: good })
  })
  const hostile: [string, Respond, RegExp][] = [
    ['not found', (_, r) => r.writeHead(404).end(good), /HTTP 404/],
    [
      'a redirect',
      (_, r) => r.writeHead(301, { location: 'https://mta-sts.one.test/x' }).end(),
      /HTTP 301/,
    ],
    ['another type', (_, r) => text(r, good, 'text/html'), /content type "text\/html"/],
    ['a type that begins alike', (_, r) => text(r, good, 'text/plainer'), /content type/],
    ['no type', (_, r) => r.writeHead(200).end(good), /content type ""/],
    ['a byte too many', (_, r) => text(r, 'x'.repeat(65_537)), /longer than 65536 bytes/],
    [
      'a body without end',
      (_, r) => {
        r.writeHead(200, { 'content-type': 'text/plain' })
        const more = () => {
          while (r.write('x'.repeat(8_192)) && !r.destroyed);
        }
        r.on('drain', more)
        more()
      },
      /longer than 65536 bytes/,
    ],
    [
      'half a body',
      (_, r) => {
        r.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000' })
        r.write(good, () => r.destroy())
      },
      /aborted|reset|hang up/,
    ],
    ['a hang-up', (request) => request.socket.destroy(), /hang up|reset/],
    [
      'endless headers',
      (request) => {
        request.socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n`)
      },
      /Header overflow|Parse Error/,
    ],
    ['garbage', (request) => request.socket.end('what is this'), /Parse Error/],
  ]
  for (const [name, respond, failed] of hostile) {
    t.test(`fails on ${name}`, async (t) => {
      web.requests.length = 0
      web.answer(respond)
      t.match(await fetchPolicy('one.test'), { failed })
      t.equal(web.requests.length, 1, 'asked once')
    })
  }
  t.test('takes exactly 64 KiB', async (t) => {
    web.answer((_, response) => text(response, 'x'.repeat(65_536)))
    t.match(await fetchPolicy('one.test'), { body: /^x{65536}$/ })
  })
  t.test('gives a slow server 60 s, however steadily it drips', async (t) => {
    const clock = new FakeClock()
    const begun = new Promise<ServerResponse>((resolve) => {
      web.answer((_, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' })
        response.write('v', () => resolve(response))
      })
    })
    let done = false
    const fetched = fetcher(web.port, { clock })('one.test').finally(() => {
      done = true
    })
    const response = await begun
    await clock.advance(59_999)
    await new Promise<void>((resolve) => response.write('e', () => resolve()))
    t.equal(done, false)
    await clock.advance(1)
    t.match(await fetched, { failed: 'not there within 60 s' })
  })
  t.test('ends when the appliance stops', async (t) => {
    const stop = new AbortController()
    web.answer(() => stop.abort())
    t.match(await fetcher(web.port, { signal: stop.signal })('one.test'), { failed: 'stopped' })
    t.match(await fetcher(web.port, { signal: stop.signal })('one.test'), { failed: 'stopped' })
  })
  t.test('never reaches into the own network', async (t) => {
    web.requests.length = 0
    web.answer((_, response) => text(response, good))
    for (const [host, why] of [
      [{ a: ['127.0.0.1'] }, /at 127\.0\.0\.1, not a public address/],
      [{ a: ['10.1.2.3'], aaaa: ['::1'] }, /not a public address/],
      [{ aaaa: ['::ffff:127.0.0.1'] }, /not a public address/],
      [{ fail: 'SERVFAIL' }, /SERVFAIL/],
      [{}, /has no address/],
    ] as const) {
      const dns = { 'mta-sts.one.test': host }
      t.match(await fetcher(web.port, { dns, allow: false })('one.test'), { failed: why })
    }
    t.same(web.requests, [])
  })
  t.test('wants a certificate for the policy host', async (t) => {
    const { wrongName, expired, selfSigned } = certificates
    for (const [certificate, failed] of [
      [wrongName, /altnames|Hostname/],
      [expired, /expired/],
      [selfSigned, /self.signed/],
    ] as const) {
      const impostor = await policyHost(t, certificate)
      t.match(await fetcher(impostor.port)('one.test'), { failed })
      t.same(impostor.requests, [])
    }
  })
})

const minute = 60_000
const policyOf = (mode: string, maxAgeS = 86_400) =>
  `version: STSv1\nmode: ${mode}\nmx: mx.one.test\nmax_age: ${maxAgeS}`

/** The cache over a real database and a web site that a test can change. */
async function site(t: Test) {
  const clock = new FakeClock()
  const dataDir = makeTempDir(t)
  const resolver = fakeResolver()
  const web = { body: policyOf('enforce'), failed: '', fetches: 0 }
  const announce = (id: string | undefined) =>
    resolver.set('_mta-sts.one.test', id === undefined ? undefined : { txt: [`v=STSv1; id=${id}`] })
  announce('1')
  const open = async () => {
    const store = await openTestStore(t, { clock, dataDir })
    const policyFor = makeStsPolicies({
      store,
      clock,
      resolver,
      log: silentLog,
      fetchPolicy: async () => {
        web.fetches++
        return web.failed === '' ? { body: web.body } : { failed: web.failed }
      },
    })
    return { store, ask: async () => (await policyFor('one.test')).policy?.mode }
  }
  return { clock, web, resolver, announce, open, ...(await open()) }
}

t.test('the cache of policies', async (t) => {
  t.test('asks once for all mail of a minute, and fetches once for an id', async (t) => {
    const { clock, web, resolver, ask } = await site(t)
    t.same(await Promise.all([ask(), ask(), ask()]), ['enforce', 'enforce', 'enforce'])
    t.equal(resolver.questions.length, 1)
    await clock.advance(minute)
    t.equal(await ask(), 'enforce')
    t.equal(resolver.questions.length, 2)
    t.equal(web.fetches, 1)
  })
  t.test('outlives a restart, with DNS and web server gone', async (t) => {
    const { web, announce, open, ask, store } = await site(t)
    t.equal(await ask(), 'enforce')
    await store.close()
    announce(undefined)
    web.failed = 'down'
    const again = await open()
    t.equal(await again.ask(), 'enforce')
    t.equal(web.fetches, 1)
    t.match(await again.store.read.selectFrom('mta_sts').selectAll().execute(), [
      { domain: 'one.test', policy_id: '1', mode: 'enforce', mx: '["mx.one.test"]' },
    ])
  })
  t.test('is no fresher for a clock that was ahead', async (t) => {
    const { clock, web, ask, open, store } = await site(t)
    clock.jump(60 * 24 * 60 * minute)
    await ask()
    clock.setBack(60 * 24 * 60 * minute)
    web.body = policyOf('testing')
    t.equal(await ask(), 'testing', 'in memory')
    await store.close()
    t.equal(await (await open()).ask(), 'testing')
    t.equal(web.fetches, 2)
  })
  t.test('fetches again when the id changes', async (t) => {
    const { clock, web, announce, ask, store } = await site(t)
    await ask()
    web.body = policyOf('testing')
    announce('2')
    await clock.advance(minute)
    t.equal(await ask(), 'testing')
    t.equal(web.fetches, 2)
    const rows = await store.read.selectFrom('mta_sts').select(['policy_id', 'mode']).execute()
    t.match(rows, [{ policy_id: '2', mode: 'testing' }])
    t.equal(rows.length, 1)
  })
  t.test('keeps to the policy that it has while the new one cannot be fetched', async (t) => {
    const { clock, web, announce, ask } = await site(t)
    await ask()
    announce('2')
    for (const trouble of ['down', 'not text']) {
      web.failed = trouble === 'down' ? 'HTTP 503' : ''
      web.body = '<html>'
      await clock.advance(5 * minute)
      t.equal(await ask(), 'enforce', trouble)
    }
    t.equal(web.fetches, 3)
    web.body = policyOf('none')
    await clock.advance(5 * minute)
    t.equal(await ask(), 'none')
  })
  t.test('does not try again within five minutes of a failure', async (t) => {
    const { clock, web, ask } = await site(t)
    web.failed = 'down'
    for (let at = 0; at < 5; at++) {
      t.equal(await ask(), undefined)
      await clock.advance(minute)
    }
    t.equal(web.fetches, 1)
    web.failed = ''
    t.equal(await ask(), 'enforce')
    t.equal(web.fetches, 2)
  })
  t.test(
    'renews a policy before it runs out, and forgets it when that fails for long',
    async (t) => {
      const { clock, web, ask } = await site(t)
      web.body = policyOf('enforce', 7_200)
      await ask()
      await clock.advance(61 * minute)
      await ask()
      t.equal(web.fetches, 2, 'after half its time')
      web.failed = 'down'
      await clock.advance(119 * minute)
      t.equal(await ask(), 'enforce')
      await clock.advance(minute)
      t.equal(await ask(), undefined)
    },
  )
  t.test('drops those of other domains that ran out', async (t) => {
    const { clock, announce, ask, store } = await site(t)
    const old = { policy_id: '1', mode: 'enforce', mx: '[]', max_age_ms: 1, fetched_at: 0 } as const
    await store.write((tx) =>
      tx
        .insertInto('mta_sts')
        .values([
          { domain: 'old.test', ...old, expires_at: clock.now() - 1 },
          { domain: 'young.test', ...old, expires_at: clock.now() + 1_000 },
        ])
        .execute(),
    )
    announce('2')
    await ask()
    const rows = await store.read.selectFrom('mta_sts').select('domain').orderBy('domain').execute()
    t.same(
      rows.map(({ domain }) => domain),
      ['one.test', 'young.test'],
    )
  })
  t.test('takes a broken database for no answer, never for no policy', async (t) => {
    const { store, ask } = await site(t)
    await store.close()
    await t.rejects(ask())
  })
})

t.test('a mail is held to a policy that came over HTTPS', async (t) => {
  const web = await policyHost(t)
  const dns = {
    'one.test': { mx: [{ preference: 10, exchange: 'mx.one.test' }] },
    'mx.one.test': { a: ['127.0.0.1'] },
    '_mta-sts.one.test': { txt: ['v=STSv1; id=1'] },
  }
  const rig = await outboundRig(t, { dns, tls: { fetchPolicy: fetcher(web.port) } })
  const id = await rig.send({ to: 'a@one.test' })
  const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts === 1)
  t.equal(
    recipients[0]?.reply,
    'TLS policy of one.test (MTA-STS enforce) is not met by mx.one.test [127.0.0.1]: the server does not offer STARTTLS',
  )
  t.equal(web.requests.length, 1)
  t.same(rig.mx.messages, [])
})
