import { createHash, X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { dayMs } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import type { StaticHost, ValidatedAnswer, ValidatedResolver } from '../../src/dns/index.js'
import { silentLog } from '../../src/log/index.js'
import { type CountedSession, makeTlsCount } from '../../src/outbound/tls-sessions/index.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { outboundRig, shapedTo } from '../support/outbound.js'
import { openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

const certificates = await testCertificates(t, '*.mx.test')
const { ca } = certificates

// What a server has to offer, by the first label of its name.
const offers: Record<string, MxScript> = {
  plain: {},
  refused: { tls: certificates.valid, startTls: '454 4.7.0 not now' },
  valid: { tls: certificates.valid },
  othername: { tls: certificates.wrongName },
  expired: { tls: certificates.expired },
  selfsigned: { tls: certificates.selfSigned },
}
const offered = Object.keys(offers)

const mismatch = 'certificate-host-mismatch'
const [lacks, untrusted, failed] = [
  ...(['starttls-not-supported', 'certificate-not-trusted', 'validation-failure'] as const),
]
const verified = [lacks, failed, '', mismatch, 'certificate-expired', untrusted]
/** What each offer counts as, in their order, and under which type of policy. */
const truth: Record<string, [type: string, results: string[]]> = {
  nothing: ['no-policy-found', [lacks, lacks, '', '', '', '']],
  'sts-none': ['no-policy-found', [lacks, lacks, '', '', '', '']],
  'sts-enforce': ['sts', verified],
  'sts-testing': ['sts', [lacks, lacks, '', mismatch, 'certificate-expired', untrusted]],
  'sts-testing-other': ['sts', [lacks, lacks, failed, failed, failed, failed]],
  'sts-enforce-other': ['sts', Array(6).fill(failed)],
  'sts-gone': ['sts', [lacks, lacks, ...Array(4).fill('sts-policy-fetch-error')]],
  'sts-untrusted': ['sts', [lacks, lacks, ...Array(4).fill('sts-webpki-invalid')]],
  'sts-nonsense': ['sts', [lacks, lacks, ...Array(4).fill('sts-policy-invalid')]],
  'dane-ee': ['tlsa', [lacks, failed, '', untrusted, untrusted, untrusted]],
  'dane-unusable': ['tlsa', [lacks, failed, ...Array(4).fill('tlsa-invalid')]],
  'dane-fails': ['tlsa', Array(6).fill('dnssec-invalid')],
}
const policyText = (mode: string, mx: string) =>
  ['version: STSv1', `mode: ${mode}`, `mx: ${mx}`, 'max_age: 86400'].join('\n')
const stsAnswers: Record<string, { body: string } | { failed: string; untrusted?: true }> = {
  'sts-none': { body: policyText('none', '*.mx.test') },
  'sts-enforce': { body: policyText('enforce', '*.mx.test') },
  'sts-testing': { body: policyText('testing', '*.mx.test') },
  'sts-testing-other': { body: policyText('testing', 'elsewhere.test') },
  'sts-enforce-other': { body: policyText('enforce', 'elsewhere.test') },
  'sts-gone': { failed: 'HTTP 404' },
  'sts-untrusted': { failed: 'certificate has expired', untrusted: true },
  'sts-nonsense': { body: 'Hello' },
}

/** Of the domains of a DANE policy all is signed, and the TLSA records are of the valid certificate. */
function daneAnswers(): ValidatedResolver {
  const own = new X509Certificate(certificates.valid.cert).publicKey.export({
    type: 'spki',
    format: 'der',
  })
  const data = createHash('sha256').update(own).digest()
  const record = { usage: 3, selector: 1, matching: 1, data }
  const records = <T>(...list: T[]): ValidatedAnswer<T> => ({
    kind: 'records',
    records: list,
    secure: true,
  })
  const policyOf = (host: string) => host.slice(host.indexOf('-') + 1, host.indexOf('.'))
  return {
    async mx(domain) {
      const [offer, policy = ''] = domain.split('.')
      if (policy === 'dane-fails') return { kind: 'failed', cause: 'SERVFAIL', secure: false }
      const answer = records({ preference: 10, exchange: `${offer}-${policy}.mx.test` })
      return { ...answer, secure: policy.startsWith('dane') }
    },
    a: async () => records('192.0.2.1'),
    tlsa: async (name) => {
      const isUnusable = policyOf(name.replace(/^_\d+\._tcp\./, '')) === 'dane-unusable'
      return records(isUnusable ? { ...record, usage: 1 } : record)
    },
  }
}

const sessionsOf = ({ read }: Store) =>
  read.selectFrom('tls_sessions').selectAll().orderBy('domain').execute()

t.test('each session counts under its policy, with what was wrong', async (t) => {
  const { port } = await fakeMx(t)
  const servers: FakeMx[] = []
  const dns: Record<string, StaticHost> = {}
  for (const [at, offer] of offered.entries()) {
    const host = `127.0.0.${40 + at}`
    servers.push(await fakeMx(t, { ...offers[offer], host, port }))
    for (const policy of Object.keys(truth)) {
      const exchange = `${offer}-${policy}.mx.test`
      dns[`${offer}.${policy}.test`] = { mx: [{ preference: 10, exchange }] }
      dns[exchange] = { a: [host] }
      if (policy in stsAnswers) dns[`_mta-sts.${offer}.${policy}.test`] = { txt: ['v=STSv1; id=1'] }
    }
  }
  const { tls } = loadConfig({ env: {} }).outbound
  const rig = await outboundRig(t, {
    dns,
    countTls: true,
    validated: daneAnswers(),
    tls: {
      ca: ca.cert,
      fetchPolicy: async (domain) => stsAnswers[domain.split('.')[1] ?? ''] ?? { failed: 'none' },
    },
    config: { port, tls: { ...tls, dane: true } },
  })
  const tried = ({ status, attempts }: { status: string; attempts: number }) =>
    status === 'delivered' || attempts > 0
  for (const policy of Object.keys(truth)) {
    const id = await rig.send({ to: offered.map((offer) => `a@${offer}.${policy}.test`) })
    await rig.until(id, ({ recipients }) => recipients.every(tried))
  }
  await rig.stop()
  const rows = await sessionsOf(rig.store)
  for (const [policy, [type, results]] of Object.entries(truth)) {
    for (const [at, offer] of offered.entries()) {
      const found = rows.filter(({ domain }) => domain === `${offer}.${policy}.test`)
      t.same(
        found.map((row) => [row.policy_type, row.result, row.sessions]),
        [[type, results[at], 1]],
        `${offer} ${policy}`,
      )
    }
  }
  const find = (domain: string) => rows.find((row) => row.domain === domain)
  t.match(find('expired.sts-enforce.test'), {
    mx_host: 'expired-sts-enforce.mx.test',
    receiving_address: '127.0.0.44',
    sending_address: '127.0.0.1',
    mx_name: /./,
  })
  t.same(JSON.parse(find('valid.sts-enforce.test')?.policy ?? ''), {
    text: policyText('enforce', '*.mx.test').split('\n'),
    mx: ['*.mx.test'],
  })
  t.match(JSON.parse(find('valid.dane-ee.test')?.policy ?? ''), { text: [/^3 1 1 [0-9a-f]{64}$/] })
  t.equal(find('plain.sts-enforce-other.test')?.reason, 'mx-mismatch')
  t.equal(find('valid.sts-enforce.test')?.mx_host, '', 'a success has no details')
})

/** Domains that all lead to one host without a policy. */
async function rigOfOneHost(t: Test, script: MxScript, messages?: number) {
  return await outboundRig(t, {
    script,
    countTls: true,
    tls: { ca: ca.cert },
    shaping: shapedTo(messages === undefined ? {} : { messages }),
    dns: {
      'in.mx.test': { a: ['127.0.0.1'] },
      '*': { mx: [{ preference: 10, exchange: 'in.mx.test' }] },
    },
  })
}

t.test('a session counts once for each domain whose mail it carries', async (t) => {
  const rig = await rigOfOneHost(t, { tls: certificates.valid })
  for (const domain of ['one.test', 'two.test', 'one.test', 'two.test', 'one.test']) {
    await rig.becomes(await rig.send({ to: `a@${domain}` }), 'delivered')
  }
  t.equal(rig.mx.sessions.length, 1)
  await rig.stop()
  const rows = await sessionsOf(rig.store)
  t.same(
    rows.map(({ domain, sessions }) => [domain, sessions]),
    [
      ['one.test', 1],
      ['two.test', 1],
    ],
  )
})

t.test('TLS that is broken counts once a session, also while it is not tried again', async (t) => {
  const broken = { last: '220 go\r\nnonsense' }
  const rig = await rigOfOneHost(t, { tls: certificates.valid, startTls: broken }, 1)
  for (let mail = 0; mail < 3; mail++) {
    await rig.becomes(await rig.send({ to: 'a@one.test' }), 'delivered')
  }
  const carried = rig.mx.sessions.filter(({ commands }) =>
    commands.some((command) => command.startsWith('MAIL')),
  ).length
  await rig.stop()
  const rows = await sessionsOf(rig.store)
  t.equal(carried, 3)
  t.equal(
    rows.reduce((sum, { sessions }) => sum + sessions, 0),
    carried,
  )
  t.same([...new Set(rows.map(({ result }) => result))], ['validation-failure'])
})

const session: CountedSession = {
  domain: 'one.test',
  published: { type: 'no-policy-found', text: [], mx: [] },
  failure: undefined,
  exchange: 'mx.one.test',
  receivingAddress: '192.0.2.1',
  receivingName: 'mx.one.test',
  sendingAddress: '198.51.100.1',
}

t.test('what is counted is what is written, however it is told apart', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const count = makeTlsCount({ store, clock, log: silentLog })
  const expected = new Map<string, number>()
  let seed = 7
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % below
  }
  for (let i = 0; i < 3_000; i++) {
    const domain = `d${random(5)}.test`
    const isFailure = random(3) === 0
    const day = Math.floor(clock.now() / dayMs)
    count.add({
      ...session,
      domain,
      receivingAddress: `192.0.${random(256)}.${random(256)}`,
      failure: isFailure ? { type: 'certificate-expired' } : undefined,
    })
    const key = `${day} ${domain} ${isFailure}`
    expected.set(key, (expected.get(key) ?? 0) + 1)
    if (random(100) === 0) await count.flush()
    if (random(1_000) === 0) await clock.advance(dayMs / 2)
  }
  await count.close()
  const rows = await sessionsOf(store)
  const found = new Map<string, number>()
  const kinds = new Map<string, number>()
  for (const { day, domain, result, sessions } of rows) {
    const key = `${day} ${domain} ${result !== ''}`
    found.set(key, (found.get(key) ?? 0) + sessions)
    kinds.set(`${day} ${domain}`, (kinds.get(`${day} ${domain}`) ?? 0) + 1)
  }
  t.same([...found].sort(), [...expected].sort())
  const most = Math.max(...kinds.values())
  t.ok(most <= 260, `at most ${most} rows of a domain and a day`)
})

t.test('what cannot be written is counted with the next flush', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  let broken = true
  const write: Store['write'] = (work) =>
    broken ? Promise.reject(new Error('disk is full')) : store.write(work)
  const count = makeTlsCount({ store: { ...store, write }, clock, log: silentLog })
  count.add(session)
  await count.flush()
  count.add(session)
  broken = false
  await count.close()
  t.match(await sessionsOf(store), [{ domain: 'one.test', sessions: 2 }])
})
