import { createHash, X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/index.js'
import type {
  MxHost,
  StaticHost,
  TlsaRecord,
  ValidatedAnswer,
  ValidatedResolver,
} from '../../src/dns/index.js'
import { silentLog } from '../../src/log/index.js'
import { judgeByDane, makeAnchors } from '../../src/outbound/tls-policy/dane-match.js'
import { makeTlsPolicies, type TlsPolicies } from '../../src/outbound/tls-policy/index.js'
import { makeOverrides } from '../../src/outbound/tls-policy/overrides.js'
import { FakeClock } from '../support/clock.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { outboundRig } from '../support/outbound.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { type TestCertificate, testCertificates } from '../support/tls.js'

const certificates = await testCertificates(t, '*.mx.test')
const { ca } = certificates
const defaults = loadConfig({ env: {} }).outbound.tls

/** The server's certificate and its issuer, as RFC 7672 §3.1.2 wants it sent. */
const withIssuer = ({ cert, key }: TestCertificate) => ({ cert: cert + ca.cert, key })
const spki = (pem: string) =>
  new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' })
const tlsa = (usage: number, data: Buffer, matching = 1): TlsaRecord => {
  const hash = matching === 1 ? 'sha256' : 'sha512'
  return { usage, selector: 1, matching, data: createHash(hash).update(data).digest() }
}
const policyText = (mode: string, ...mx: string[]) =>
  ['version: STSv1', `mode: ${mode}`, ...mx.map((name) => `mx: ${name}`), 'max_age: 86400'].join(
    '\n',
  )

// What a server has to offer, by the first label of its name.
const offers: Record<string, { script: MxScript; certificate?: TestCertificate }> = {
  plain: { script: {} },
  refused: { script: { tls: certificates.valid, startTls: '454 4.7.0 not now' } },
  broken: { script: { tls: certificates.valid, startTls: { last: '220 go\r\nnonsense' } } },
  valid: { script: { tls: withIssuer(certificates.valid) }, certificate: certificates.valid },
  othername: {
    script: { tls: withIssuer(certificates.wrongName) },
    certificate: certificates.wrongName,
  },
  expired: { script: { tls: withIssuer(certificates.expired) }, certificate: certificates.expired },
  selfsigned: { script: { tls: certificates.selfSigned }, certificate: certificates.selfSigned },
}
const offered = Object.keys(offers)

// How the mail went: c in the clear, e encrypted to whomever, v encrypted and verified, - deferred.
// In the order of the offers: plain refused broken valid othername expired selfsigned.
const asUsual = 'c c c v e e e'
const verifiedOnly = '- - - v - - -'
const encryptedOnly = '- - - v e e e'
const never = '- - - - - - -'
const truth: Record<string, [ways: string, by: string | RegExp]> = {
  nothing: [asUsual, ''],
  'sts-none': [asUsual, ''],
  'sts-testing': [asUsual, 'MTA-STS testing'],
  'sts-testing-other': [asUsual, 'MTA-STS testing'],
  'sts-enforce': [verifiedOnly, 'MTA-STS enforce'],
  'sts-enforce-other': [never, /lets no mail server be used: .* is not in the policy/],
  'sts-unreachable': [asUsual, ''],
  'op-off': ['c c c c c c c', 'operator: off'],
  'op-opportunistic': [asUsual, 'operator: opportunistic'],
  'op-require': [encryptedOnly, 'operator: require'],
  'op-verify': [verifiedOnly, 'operator: verify'],
  // The key alone counts, whatever name, date and issuer are on the certificate.
  'dane-ee': ['- - - v v v v', 'DANE'],
  'dane-ee-512': ['- - - v v v v', 'DANE'],
  'dane-ee-sts-other': ['- - - v v v v', 'DANE'],
  'dane-ee-mismatch': [never, 'DANE'],
  'dane-ta': [verifiedOnly, 'DANE'],
  'dane-unusable': [encryptedOnly, 'DANE, no usable TLSA'],
  'dane-unusable-sts': [verifiedOnly, 'MTA-STS enforce'],
  'dane-none-sts': [verifiedOnly, 'MTA-STS enforce'],
  'dane-tlsa-fails': [never, /DANE: TLSA of .*SERVFAIL/],
  'dane-address-fails': [never, /DANE: address of .*SERVFAIL/],
  'dane-mx-fails': [never, /\(DANE\) is not known: MX of .*SERVFAIL/],
  'dane-mx-forged': [never, /not among the signed MX/],
  'dane-mx-unsigned': [asUsual, ''],
  'dane-address-unsigned': [asUsual, ''],
  'dane-tlsa-none': [asUsual, ''],
}

const stsBodies: Record<string, string> = {
  'sts-none': policyText('none'),
  'sts-testing': policyText('testing', '*.mx.test'),
  'sts-testing-other': policyText('testing', 'elsewhere.test'),
  'sts-enforce': policyText('enforce', '*.mx.test'),
  'sts-enforce-other': policyText('enforce', 'elsewhere.test', '*.sub.mx.test'),
  'op-opportunistic': policyText('enforce', 'elsewhere.test'),
  'op-require': policyText('enforce', 'elsewhere.test'),
  'dane-ee-sts-other': policyText('enforce', 'elsewhere.test'),
  'dane-unusable-sts': policyText('enforce', '*.mx.test'),
  'dane-none-sts': policyText('enforce', '*.mx.test'),
}

/** A host of each policy and offer is `<offer>-<policy>.mx.test`, its domain `<offer>.<policy>.test`. */
function daneAnswers(port: number): ValidatedResolver {
  const failed = { kind: 'failed', cause: 'DNS: SERVFAIL', secure: false } as const
  const records = <T>(...list: T[]): ValidatedAnswer<T> => ({
    kind: 'records',
    records: list,
    secure: true,
  })
  const tlsaOf = (offer: string, policy: string): ValidatedAnswer<TlsaRecord> => {
    const own = spki((offers[offer]?.certificate ?? certificates.valid).cert)
    switch (policy) {
      case 'dane-ee':
      case 'dane-ee-sts-other':
        // What cannot be used beside it changes nothing.
        return records(tlsa(0, own), tlsa(3, Buffer.from('other')), tlsa(3, own))
      case 'dane-ee-512':
        return records(tlsa(3, own, 2))
      case 'dane-ee-mismatch':
        return records(tlsa(3, Buffer.from('other key')))
      case 'dane-ta':
        return records(tlsa(2, spki(ca.cert)))
      case 'dane-unusable':
      case 'dane-unusable-sts':
        return records(tlsa(1, own), { ...tlsa(3, own), data: Buffer.alloc(31) })
      case 'dane-tlsa-fails':
        return failed
      // Whoever asks although the zone is not signed is refused by this one.
      case 'dane-address-unsigned':
      case 'dane-mx-unsigned':
        return records(tlsa(3, Buffer.from('other key')))
      default:
        return { kind: 'none', secure: true }
    }
  }
  return {
    async mx(domain) {
      const [offer, policy = ''] = domain.split('.')
      if (policy === 'dane-mx-fails') return failed
      const exchange = policy === 'dane-mx-forged' ? 'mx.mx.test' : `${offer}-${policy}.mx.test`
      const answer = records({ preference: 10, exchange })
      return { ...answer, secure: policy.startsWith('dane') && policy !== 'dane-mx-unsigned' }
    },
    async a(host) {
      const policy = host.slice(host.indexOf('-') + 1, host.indexOf('.'))
      if (policy === 'dane-address-fails') return failed
      return { ...records('192.0.2.1'), secure: policy !== 'dane-address-unsigned' }
    },
    async tlsa(name) {
      const match = new RegExp(`^_${port}\\._tcp\\.([a-z]+)-(.+)\\.mx\\.test$`).exec(name)
      return tlsaOf(match?.[1] ?? '', match?.[2] ?? '')
    },
  }
}

t.test('who may have the mail, by policy, offered TLS and certificate', async (t) => {
  const { port } = await fakeMx(t)
  const servers: FakeMx[] = []
  const dns: Record<string, StaticHost> = {}
  for (const [at, offer] of offered.entries()) {
    const host = `127.0.0.${20 + at}`
    servers.push(await fakeMx(t, { ...offers[offer]?.script, host, port }))
    for (const policy of Object.keys(truth)) {
      const exchange = `${offer}-${policy}.mx.test`
      dns[`${offer}.${policy}.test`] = { mx: [{ preference: 10, exchange }] }
      dns[exchange] = { a: [host] }
      if (policy in stsBodies || policy === 'sts-unreachable') {
        dns[`_mta-sts.${offer}.${policy}.test`] = { txt: ['v=STSv1; id=1;'] }
      }
    }
  }
  const rig = await outboundRig(t, {
    dns,
    validated: daneAnswers(port),
    tls: {
      ca: ca.cert,
      fetchPolicy: async (domain) => {
        const body = stsBodies[domain.split('.')[1] ?? '']
        return body === undefined ? { failed: 'HTTP 404' } : { body }
      },
    },
    config: {
      port,
      tls: {
        ...defaults,
        dane: true,
        domains: {
          '*.op-off.test': 'off',
          '*.op-opportunistic.test': 'opportunistic',
          '*.op-require.test': 'require',
          '*.op-verify.test': 'verify',
        },
      },
    },
  })

  for (const [policy, [ways, by]] of Object.entries(truth)) {
    const addressAt = (offer: string) => `a@${offer}.${policy}.test`
    const id = await rig.send({ to: offered.map(addressAt) })
    const tried = ({ status, attempts }: { status: string; attempts: number }) =>
      status === 'delivered' || attempts > 0
    const { recipients } = await rig.until(id, (email) => email.recipients.every(tried))
    const ended = await rig.store.read
      .selectFrom('deliveries')
      .select(['recipient', 'tls', 'transcript'])
      .where('email_id', '=', id)
      .execute()
    const waiting = await rig.store.read
      .selectFrom('queue')
      .select(['recipient', 'last_transcript'])
      .where('email_id', '=', id)
      .execute()

    const went = offered.map((offer, at) => {
      const address = addressAt(offer)
      const seen = servers[at]?.messages.find(({ to }) => to.includes(address))
      const row = ended.find(({ recipient }) => recipient === address)
      if (row === undefined) return seen === undefined ? '-' : 'deferred, yet the server has it'
      if (seen?.tls !== true)
        return row.tls === null || /^none(: TLS failed: | \()/.test(row.tls) ? 'c' : row.tls
      return /^TLSv1\.3 TLS_\w+ \(verified/.test(row.tls ?? '') ? 'v' : 'e'
    })
    t.equal(went.join(' '), ways, policy)

    for (const { tls, transcript } of ended) {
      if (by === '') t.match(tls ?? '(verified)', /\((un)?verified\)$|^none: TLS failed: /, policy)
      else t.match(tls, by, policy)
      if (by !== '') t.match(transcript, `TLS policy: ${by}\n`)
    }
    for (const { email, status, reply } of recipients) {
      if (status === 'delivered') continue
      t.match(reply, typeof by === 'string' ? `(${by}) is not met by ` : by, `${policy}: ${email}`)
      const transcript = waiting.find((row) => row.recipient === email)?.last_transcript
      if (typeof by === 'string') t.match(transcript, `TLS policy: ${by}\n`)
    }
  }
  for (const { sessions, messages } of servers) {
    const bare = sessions.filter(({ tls }) => !tls).flatMap(({ commands }) => commands)
    const offeredBare = bare.filter((command) => command.startsWith('MAIL')).length
    t.equal(offeredBare, messages.filter(({ tls }) => !tls).length, 'no envelope in the clear')
  }
})

/** Domains that all lead to one host; those with `enforce` in their name have such a policy. */
async function rigOfOneHost(t: Test, script: MxScript, clock?: FakeClock) {
  const mx = { mx: [{ preference: 10, exchange: 'in.mx.test' }] }
  const sts = { txt: ['v=STSv1; id=1'] }
  return await outboundRig(t, {
    script,
    ...(clock && { clock }),
    dns: {
      'in.mx.test': { a: ['127.0.0.1'] },
      '_mta-sts.enforce.test': sts,
      '_mta-sts.testing.test': sts,
      '*': mx,
    },
    tls: {
      ca: ca.cert,
      fetchPolicy: async (domain) => ({
        body: policyText(domain.split('.')[0] ?? '', '*.mx.test'),
      }),
    },
    config: { tls: { ...defaults, domains: { 'off.test': 'off', 'require.test': 'require' } } },
  })
}

t.test('a session carries the mail of another domain only if it meets its policy', async (t) => {
  t.test('verified, it is good for all but those that want none', async (t) => {
    const rig = await rigOfOneHost(t, { tls: certificates.valid })
    const sessionsAfter = async (domain: string) => {
      await rig.becomes(await rig.send({ to: `a@${domain}` }), 'delivered')
      return rig.mx.sessions.length
    }
    t.equal(await sessionsAfter('one.test'), 1)
    t.equal(await sessionsAfter('enforce.test'), 1)
    t.equal(await sessionsAfter('off.test'), 2, 'off: a session of its own, in the clear')
    t.equal(await sessionsAfter('two.test'), 2)
    t.equal(await sessionsAfter('off.test'), 2)
    t.same(
      rig.mx.messages.map(({ tls }) => tls),
      [true, true, false, true, false],
      'nobody else is talked into the clear',
    )
  })
  t.test('in the clear by the word on another domain, it is good for no one else', async (t) => {
    const rig = await rigOfOneHost(t, { tls: certificates.valid })
    for (const domain of ['off.test', 'one.test']) {
      await rig.becomes(await rig.send({ to: `a@${domain}` }), 'delivered')
    }
    t.same(
      rig.mx.messages.map(({ tls }) => tls),
      [false, true],
    )
  })
  t.test('unverified, it is not good for a policy that is enforced', async (t) => {
    const rig = await rigOfOneHost(t, { tls: certificates.selfSigned })
    await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
    const id = await rig.send({ to: 'a@enforce.test' })
    const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts === 1)
    const reply =
      /^TLS policy of enforce.test \(MTA-STS enforce\) is not met by in.mx.test \[127.0.0.1\]: certificate not accepted: \w*SELF_SIGNED/
    t.match(recipients[0]?.reply, reply)
    const waiting = rig.store.read.selectFrom('queue').select('last_cause')
    t.same(await waiting.execute(), [{ last_cause: 'tls-policy' }])
    await rig.becomes(await rig.send({ to: 'a@require.test' }), 'delivered')
    t.equal(rig.mx.messages.length, 2)
    t.equal(rig.mx.sessions.length, 2, 'the first, again for `require`, and the one refused')
  })
})

t.test('a host that is remembered for broken TLS gets no mail that needs TLS', async (t) => {
  const clock = new FakeClock()
  const broken = { last: '220 go\r\nnonsense' }
  const rig = await rigOfOneHost(t, { tls: certificates.valid, startTls: broken }, clock)
  const startTls = () =>
    rig.mx.sessions.filter(({ commands }) => commands.includes('STARTTLS')).length
  await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
  t.equal(startTls(), 1)
  for (const domain of ['enforce.test', 'require.test']) {
    const id = await rig.send({ to: `a@${domain}` })
    const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts === 1)
    t.match(recipients[0]?.reply, /^TLS policy of .* is not met/)
  }
  t.equal(startTls(), 3, 'tried with TLS, and with nothing else')
  t.equal(rig.mx.messages.length, 1)
  t.test('and is tried again after three days', async (t) => {
    rig.mx.change({ startTls: '220 go' })
    await clock.advance(3 * 86_400_000)
    // The two that wait are delivered on the way; their session ages out.
    await rig.mx.waitForMessages(3)
    await clock.advance(120_000)
    await rig.becomes(await rig.send({ to: 'b@one.test' }), 'delivered')
    const tls = (to: string) => rig.mx.messages.find((message) => message.to.includes(to))?.tls
    t.equal(tls('a@enforce.test'), true)
    t.equal(tls('b@one.test'), true)
  })
})

t.test('a policy that is tested is told of, with what it would have done', async (t) => {
  for (const [script, tls] of [
    [{}, 'none (MTA-STS testing, would refuse: no TLS)'],
    [{ tls: certificates.valid }, /^TLSv1\.3 \w+ \(verified, MTA-STS testing\)$/],
    [{ tls: certificates.selfSigned }, /\(unverified, MTA-STS testing, would refuse: \w+\)$/],
  ] as const) {
    const rig = await rigOfOneHost(t, script)
    await rig.becomes(await rig.send({ to: 'a@testing.test' }), 'delivered')
    const row = await rig.store.read.selectFrom('deliveries').select('tls').executeTakeFirst()
    t.match(row?.tls, tls)
  }
})

const host = (exchange: string): MxHost => ({
  exchange,
  preference: 10,
  addresses: ['192.0.2.1'],
})

async function policies(
  t: Test,
  options: {
    dns?: Record<string, StaticHost>
    validated?: ValidatedResolver
    domains?: Record<string, 'off' | 'opportunistic' | 'require' | 'verify'>
    body?: string
  },
): Promise<TlsPolicies> {
  const resolver = fakeResolver(options.dns ?? { '_mta-sts.one.test': { txt: ['v=STSv1; id=1'] } })
  return makeTlsPolicies({
    store: await openTestStore(t),
    clock: new FakeClock(),
    log: silentLog,
    resolver: { ...resolver, ...(options.validated && { validated: options.validated }) },
    fetchPolicy: async () => ({ body: options.body ?? policyText('enforce', '*.in.test') }),
    settings: { mtaSts: true, dane: true, domains: options.domains ?? {} },
    port: 25,
  })
}

t.test('what somebody else requires binds where TLS would be opportunistic', async (t) => {
  const rows = [
    [{ dns: {} }, { mode: 'require', by: 'shaping' }],
    [{}, { mode: 'require', verify: 'name', by: 'MTA-STS enforce' }],
    [
      { body: policyText('testing', '*.in.test') },
      { mode: 'require', by: 'shaping, MTA-STS testing' },
    ],
    [{ domains: { 'one.test': 'off' } as const }, { mode: 'off', by: 'operator: off' }],
  ] as const
  for (const [options, demand] of rows) {
    const all = await policies(t, options)
    const policy = await all.policyFor('ONE.test', [host('mx.in.test')], 'shaping')
    t.match('demandOf' in policy && policy.demandOf('mx.in.test'), demand)
  }
})

t.test('hosts that the policy does not let be used are left out', async (t) => {
  const hosts = [host('mx.in.test'), host('a.mx.in.test'), host('mx.out.test')]
  t.test('by MTA-STS', async (t) => {
    const policy = await (await policies(t, {})).policyFor('one.test', hosts)
    t.same('hosts' in policy && policy.hosts, hosts.slice(0, 1))
    t.equal('demandOf' in policy && policy.demandOf('mx.out.test'), undefined)
  })
  t.test('by DANE, one by one', async (t) => {
    const own = tlsa(3, Buffer.from('key'))
    const validated: ValidatedResolver = {
      mx: async () => ({
        kind: 'records',
        records: hosts.slice(0, 2).map(({ exchange }) => ({ exchange, preference: 10 })),
        secure: true,
      }),
      a: async () => ({ kind: 'none', secure: true }),
      tlsa: async (name) =>
        name === '_25._tcp.mx.in.test'
          ? { kind: 'records', records: [own], secure: true }
          : { kind: 'failed', cause: 'SERVFAIL', secure: false },
    }
    const policy = await (await policies(t, { dns: {}, validated })).policyFor('one.test', hosts)
    t.same('hosts' in policy && policy.hosts, hosts.slice(0, 1))
    t.match('demandOf' in policy && policy.demandOf('mx.in.test'), { by: 'DANE' })
  })
  t.test('and all of them: the reply says why', async (t) => {
    const policy = await (await policies(t, {})).policyFor('one.test', hosts.slice(1))
    t.match(policy, {
      deferred:
        'TLS policy of one.test lets no mail server be used: a.mx.in.test is not in the policy (MTA-STS enforce, id 1, mx *.in.test), mx.out.test is not in the policy (MTA-STS enforce, id 1, mx *.in.test)',
    })
  })
})

t.test('the TLSA records of an alias are those of its target, else its own', async (t) => {
  const own = tlsa(3, Buffer.from('key'))
  for (const [at, by] of [
    ['_25._tcp.target.test', 'DANE'],
    ['_25._tcp.mx.in.test', 'DANE'],
    ['_25._tcp.other.test', ''],
  ]) {
    const validated: ValidatedResolver = {
      mx: async () => ({ kind: 'none', secure: true }),
      a: async () => ({
        kind: 'records',
        records: ['192.0.2.1'],
        secure: true,
        name: 'target.test',
      }),
      tlsa: async (name) =>
        name === at
          ? { kind: 'records', records: [own], secure: true }
          : { kind: 'nxdomain', secure: true },
    }
    const all = await policies(t, { dns: {}, validated })
    const policy = await all.policyFor('mx.in.test', [host('mx.in.test')])
    t.match('demandOf' in policy && policy.demandOf('mx.in.test'), { by })
  }
})

t.test("an operator's word: exact, else the closest wildcard above", async (t) => {
  const override = makeOverrides({
    'one.test': 'verify',
    '*.one.test': 'require',
    '*.off.one.test': 'off',
    'bücher.test': 'off',
  })
  const modes = ['one.test', 'a.one.test', 'a.b.one.test', 'off.one.test', 'a.off.one.test']
  t.same(
    modes.map((name) => override(name)?.by),
    [
      'operator: verify',
      'operator: require',
      'operator: require',
      'operator: require',
      'operator: off',
    ],
  )
  t.equal(override('two.test'), undefined)
  t.equal(override('noone.test'), undefined)
  t.match(override('xn--bcher-kva.test'), { mode: 'off' })
  t.match(makeOverrides({ '*': 'require' })('two.test'), { mode: 'require' })
})

t.test('a chain up to a trust anchor of DANE', async (t) => {
  const deep = await certificates.issue('deep.test', certificates.valid)
  const [own, mid, root] = [deep, certificates.valid, ca].map(
    ({ cert }) => new X509Certificate(cert),
  )
  if (!own || !mid || !root) throw new Error('no certificates')
  const now = Date.now()
  const judge = (
    chain: X509Certificate[],
    anchor: X509Certificate,
    name = 'deep.test',
    at = now,
  ) => {
    const key = anchor.publicKey.export({ type: 'spki', format: 'der' })
    const whole = { usage: 2, selector: 0, matching: 0, data: anchor.raw }
    const words = [tlsa(2, key), tlsa(2, key, 2), whole].map(
      (record) => judgeByDane(chain, makeAnchors([record], ['domain.test']), name, at)?.why,
    )
    t.equal(new Set(words).size, 1, 'whatever the record matches by')
    return words[0]
  }
  t.match(judge([own, mid, root], root), 'certificate 2 of the chain may not issue others')
  t.equal(judge([own, mid, root], own), undefined, 'the certificate may be its own anchor')
  t.equal(judge([mid, root], root, 'a.mx.test'), undefined)
  t.match(judge([mid, root], root, 'a.b.mx.test'), 'the certificate is not for a.b.mx.test')
  t.match(judge([mid, root], root, 'a.mx.test', now + 40 * 86_400_000), /1 .* not in force/)
  t.match(judge([mid, root], root, 'a.mx.test', now - 40 * 86_400_000), /1 .* not in force/)
  t.match(judge([mid], root, 'a.mx.test'), 'no TLSA record matches the certificate')
  t.match(judge([], root), 'no certificate')
  const stranger = new X509Certificate(certificates.selfSigned.cert)
  t.match(judge([stranger, root], root, 'a.mx.test'), 'certificate 1 of the chain is not signed')
})

t.test('two names at one address: the one that the policy wants gets the mail', async (t) => {
  const dns: Record<string, StaticHost> = {
    'in.mx.test': { a: ['127.0.0.1'] },
    'other.test': { a: ['127.0.0.1'] },
  }
  const domains = ['sts', 'both', 'dane', 'usual'].map((name) => `${name}.test`)
  for (const domain of domains) {
    dns[domain] = {
      mx: [
        { preference: 10, exchange: 'other.test' },
        { preference: 20, exchange: 'in.mx.test' },
      ],
    }
  }
  for (const name of ['sts', 'both']) dns[`_mta-sts.${name}.test`] = { txt: ['v=STSv1; id=1'] }
  const signed = <T>(...list: T[]) => ({ kind: 'records', records: list, secure: true }) as const
  const rig = await outboundRig(t, {
    script: { tls: withIssuer(certificates.valid) },
    dns,
    validated: {
      async mx(domain) {
        const records = dns[domain]?.mx ?? []
        return { kind: 'records', records: [...records], secure: domain === 'dane.test' }
      },
      a: async () => signed('127.0.0.1'),
      async tlsa(name) {
        const key = name.endsWith('.other.test') ? Buffer.from('another key') : undefined
        return signed(tlsa(3, key ?? spki(certificates.valid.cert)))
      },
    },
    tls: {
      ca: ca.cert,
      fetchPolicy: async (domain) => ({
        body: policyText('enforce', ...(domain === 'both.test' ? ['other.test'] : []), '*.mx.test'),
      }),
    },
    config: { tls: { ...defaults, dane: true } },
  })
  for (const domain of domains) {
    const id = await rig.send({ to: `a@${domain}` })
    const { recipients } = await rig.until(id, (email) => email.recipients[0]?.attempts !== 0)
    t.match(recipients, [{ status: 'delivered', attempts: 1 }], domain)
  }
  const ended = await rig.store.read
    .selectFrom('deliveries')
    .select(['recipient', 'remote', 'tls'])
    .orderBy('id')
    .execute()
  const at = (name: string) => `${name} [127.0.0.1]`
  t.match(ended, [
    { recipient: 'a@sts.test', remote: at('in.mx.test'), tls: /verified, MTA-STS enforce/ },
    { recipient: 'a@both.test', remote: at('in.mx.test'), tls: /verified, MTA-STS enforce/ },
    { recipient: 'a@dane.test', remote: at('in.mx.test'), tls: /verified, DANE/ },
    { recipient: 'a@usual.test' },
  ])
  t.test(
    'where nobody demands anything, an address that turns us away is asked once',
    async (t) => {
      rig.mx.change({ banner: '554 5.7.1 not you' })
      await rig.stop()
      await rig.start()
      const before = rig.mx.sessions.length
      const id = await rig.send({ to: 'b@usual.test' })
      await rig.until(id, (email) => email.recipients[0]?.attempts === 1)
      t.equal(rig.mx.sessions.length - before, 1)
    },
  )
})
