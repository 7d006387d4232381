// Issue 'what operators and developers ask' 7: names are proved by the DNS through a server that takes updates (RFC 2136).
import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeDnsRecords } from '../../src/certificates/dns-challenge.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey, updateKeyOf } from '../../src/config/index.js'
import { type Resolver, systemResolver } from '../../src/dns/index.js'
import { checkDnsUpdates } from '../../src/doctor/dns-updates.js'
import { acmeRig } from '../support/acme-rig.js'
import { FakeClock } from '../support/clock.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'
import { absent } from '../support/tools.js'
import { updateServer } from '../support/update-server.js'

const secret = Buffer.alloc(32, 7)
const key = `key "posthorn" {\n\talgorithm hmac-sha256;\n\tsecret "${secret.toString('base64')}";\n};\n`
const ours = { zone: 'example.test', key: { name: 'posthorn', secret } }
const name = 'mail.example.test'
const record = `_acme-challenge.${name}`

const failing = (work: Promise<unknown>) =>
  work.then(
    () => 'it was done',
    (error: Error) => error.message,
  )

function settings(port: number, file: string) {
  return { POSTHORN_TLS_DNS_SERVER: `127.0.0.1:${port}`, POSTHORN_TLS_DNS_KEY_FILE: file }
}

/** What publishes records, and is content with what it has published. */
function recordsAt(
  { port, file }: { port: number; file: string },
  { clock = systemClock, resolver }: { clock?: Clock; resolver: Resolver },
) {
  const config = loadConfig({ env: settings(port, file) })
  return makeDnsRecords({ config, clock, resolver, signal: new AbortController().signal })
}

function keyFile(t: Test, text = key): string {
  return join(t.testdir({ 'tsig.key': text }), 'tsig.key')
}

t.test('a record is published and taken back by updates that the key has signed', async (t) => {
  const server = await updateServer(t, ours)
  const resolver = fakeResolver({ [record]: { txt: ['first', 'second'] } })
  const dns = recordsAt({ port: server.port, file: keyFile(t) }, { resolver })
  await dns.add(name, 'first')
  await dns.add(name, 'second')
  t.same(server.records.get(record), ['first', 'second'])
  await dns.remove(name, 'first')
  t.same(server.records.get(record), ['second'])
  t.same(server.ways, ['udp', 'udp', 'udp'])
  server.does = 'cuts datagrams'
  await dns.remove(name, 'second')
  t.same(server.records.get(record), [])
  t.equal(server.ways.at(-1), 'tcp')
  // RFC 8555 §8.4: the directory follows it, too.
  server.does = 'its work'
  resolver.set(record, { cname: 'here.acme.example.test' })
  resolver.set('here.acme.example.test', { txt: ['third'] })
  await dns.add(name, 'third')
  t.same(server.records.get('here.acme.example.test'), ['third'])
})

t.test('what a server refuses is told, and nobody else is believed', async (t) => {
  const server = await updateServer(t, ours)
  const { port } = server
  const resolver = fakeResolver()
  const clock = new FakeClock()
  const step = setInterval(() => void clock.advance(500), 5)
  t.teardown(() => clearInterval(step))
  const file = keyFile(t)
  const dns = recordsAt({ port, file }, { clock, resolver })
  server.does = 'no datagrams'
  await dns.remove(name, 'x')
  t.same(server.ways, ['tcp'], 'where no datagrams come through')
  server.does = 'refuses'
  t.match(
    await failing(dns.add(name, 'x')),
    /^tls\.dns_server .+ does not take _acme-.+\(REFUSED\)$/,
  )
  server.does = 'lies'
  t.match(await failing(dns.add(name, 'x')), /no answer that the key has signed/)
  server.does = 'its work'
  t.match(
    await failing(dns.add('mail.other.test', 'x')),
    /has no zone with _acme-challenge\.mail\.other\.test/,
  )
  const other = keyFile(
    t,
    key.replace(secret.toString('base64'), secret.toString('base64').replace('B', 'C')),
  )
  t.match(
    await failing(recordsAt({ port, file: other }, { clock, resolver }).add(name, 'x')),
    /BADSIG/,
  )
  const nobody = await freePort()
  t.match(
    await failing(recordsAt({ port: nobody, file }, { clock, resolver }).add(name, 'x')),
    /ECONNREFUSED/,
  )
  t.match(
    await failing(recordsAt({ port, file: '/nowhere' }, { clock, resolver }).add(name, 'x')),
    /Cannot read the key/,
  )
  t.same(server.records.get(record), [])
})

t.test('a key is read as the tools of name servers write it', async (t) => {
  const base64 = secret.toString('base64')
  const read = (text: string) =>
    updateKeyOf({ dnsServer: 'ns.test', dnsKeyFile: keyFile(t, text) }, {})
  const whole = { name: 'posthorn', algorithm: 'hmac-sha256', secret }
  t.same(read(key), whole)
  t.same(read(`hmac-sha256:posthorn:${base64}\n`), whole)
  const knot = `# hmac-sha512:posthorn.:${base64}\nkey:\n- id: posthorn.\n  algorithm: hmac-sha512\n  secret: ${base64}\n`
  t.same(read(knot), { name: 'posthorn.', algorithm: 'hmac-sha512', secret })
  for (const [text, told] of [
    ['', /not as tsig-keygen writes one/],
    [key.replace('hmac-sha256', 'hmac-md5'), /is for hmac-md5/],
    [key.replace(base64, 'a-b-c'), /secret is not in base64/],
    [key.replace('"posthorn"', '"post..horn"'), /no domain name/],
  ] as const) {
    t.throws(() => read(text), { message: told })
  }
  t.equal(updateKeyOf({ dnsServer: '', dnsKeyFile: '' }, {}), undefined)
  t.throws(() => updateKeyOf({ dnsServer: 'ns.test', dnsKeyFile: '' }, {}), /names no file/)
  const both = { ...settings(53, '/x'), POSTHORN_TLS_DNS_HOOK: '/bin/true' }
  t.throws(() => loadConfig({ env: both }), /two ways to publish one record/)
  for (const server of ['ns1.example.com', '192.0.2.53:5353', '[2001:db8::53]:53']) {
    t.equal(loadConfig({ env: { POSTHORN_TLS_DNS_SERVER: server } }).tls.dnsServer, server)
  }
  for (const server of ['2001:db8::53:x', 'ns:0', 'a b', 'https://ns', '-', 'ns:99999']) {
    t.throws(() => loadConfig({ env: { POSTHORN_TLS_DNS_SERVER: server } }), /a name server/)
  }
})

t.test('a certificate comes by it for a name that leads elsewhere', async (t) => {
  const server = await updateServer(t, { ...ours, zone: 'mail.test' })
  const { renew, directory, resolver, clock, certificate, row } = await acmeRig(
    t,
    await testCertificates(t, 'acme.test'),
    {
      env: settings(server.port, keyFile(t)),
    },
  )
  resolver.set('mail.test', { a: ['192.0.2.99'] })
  const of = '_acme-challenge.mail.test'
  directory.behaviour.txt = (asked) => server.records.get(asked) ?? []
  server.does = 'refuses'
  t.match((await renew()).failed, [/dns_server .+REFUSED/])
  t.match(await row(), { failures: 1, fix: /posthorn doctor/ })
  server.does = 'its work'
  await clock.advance(3_600_000)
  const renewing = renew()
  await eventually(async () => (server.records.get(of)?.length ?? 0) > 0, 10_000)
  resolver.set(of, { txt: server.records.get(of) ?? [] })
  const stop = setInterval(() => void clock.advance(2_000), 20)
  t.same((await renewing).issued, ['mail.test'])
  clearInterval(stop)
  t.same(certificate()?.names, ['mail.test'])
  t.same(server.records.get(of), [], 'and the record goes')
})

const zone = `$TTL 60
@ SOA ns.example.test. ops.example.test. 1 60 60 60 60
@ NS ns.example.test.
ns A 127.0.0.1
`

t.test(
  'BIND takes updates, and what it refuses is told',
  { skip: absent('named', 'tsig-keygen') },
  async (t) => {
    const dir = t.testdir({ 'example.zone': zone })
    const port = await freePort()
    const keyOf = (name: string, algorithm: string) =>
      execFileSync('tsig-keygen', ['-a', algorithm, name], { encoding: 'utf8' })
    const keys = {
      good: keyOf('posthorn', 'hmac-sha256'),
      long: keyOf('posthorn-long', 'hmac-sha512'),
      other: keyOf('posthorn', 'hmac-sha256'),
      unknown: keyOf('stranger', 'hmac-sha256'),
    }
    for (const [name, text] of Object.entries(keys)) writeFileSync(join(dir, name), text)
    writeFileSync(
      join(dir, 'named.conf'),
      `${keys.good}${keys.long}
options { directory "${dir}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
pid-file none; recursion no; };
controls { };
zone "example.test" { type primary; file "example.zone";
update-policy { grant posthorn name ${record} TXT; grant posthorn-long name ${record} TXT; }; };
`,
    )
    const named = spawn('named', ['-f', '-c', join(dir, 'named.conf')], { stdio: 'ignore' })
    const ended = new Promise((resolve) => named.once('exit', resolve))
    t.teardown(async () => {
      named.kill('SIGTERM')
      await ended
    })
    const resolver = systemResolver({ clock: systemClock, servers: [`127.0.0.1:${port}`] })
    const by = (file: keyof typeof keys, clock: Clock = systemClock) =>
      recordsAt({ port, file: join(dir, file) }, { clock, resolver })
    await eventually(async () => (await resolver.a('ns.example.test')).kind === 'records', 10_000)
    const records = async () => {
      const found = await resolver.txt(record)
      return found.kind === 'records' ? [...found.records].sort() : []
    }
    await by('good').add(name, 'first')
    await by('long').add(name, 'second')
    t.same(await records(), ['first', 'second'])
    await by('good').remove(name, 'first')
    t.same(await records(), ['second'])
    await by('long').remove(name, 'second')
    t.same(await records(), [])

    t.match(await failing(by('other').add(name, 'x')), /BADSIG/)
    t.match(await failing(by('unknown').add(name, 'x')), /BADKEY/)
    t.match(await failing(by('good').add('other.example.test', 'x')), /REFUSED/)
    const late: Clock = { ...systemClock, now: () => systemClock.now() - 3_600_000 }
    t.match(await failing(by('good', late).add(name, 'x')), /BADTIME/)
    t.same(await records(), [])

    const { read } = await openTestStore(t)
    const look = async (file: keyof typeof keys, names = name) => {
      const env = {
        ...settings(port, join(dir, file)),
        POSTHORN_TLS_ACME: 'true',
        POSTHORN_TLS_AGREE_TO_TERMS: 'true',
        POSTHORN_TLS_NAMES: names,
        POSTHORN_INBOUND_ENABLED: 'false',
      }
      const [finding] = await checkDnsUpdates({
        config: loadConfig({ env }),
        dataDir: dir,
        read,
        clock: systemClock,
        resolver,
        key: makeApplianceKey(Buffer.alloc(32, 7)),
        random: () => 0,
      })
      return finding
    }
    t.match(await look('good'), { state: 'ok', found: /takes updates of the zone example\.test/ })
    t.match(await look('unknown'), { state: 'fail', found: /BADKEY/, fix: /update-policy/ })
    t.match(await look('good', 'mail.elsewhere.test'), { state: 'fail', found: /no zone with/ })
  },
)
