import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import t from 'tap'
import { packageFile } from '../../src/config/index.js'
import {
  type Evidence,
  evidenceOf,
  type FeedbackLoop,
  loadFeedbackLoops,
  type ReportEnvelope,
} from '../../src/reports/index.js'
import { arf } from '../inbound/mails.js'
import { openLoop } from '../support/loop.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir } from '../support/store.js'

const loops: FeedbackLoop[] = [
  { name: 'Loop', domains: ['arf.loop.test'], senders: [], networks: ['198.51.100.0/24'] },
  { name: 'Mail', domains: ['mail.test'], senders: ['staff@mail.test'], networks: [] },
]
const stranger: ReportEnvelope = { remoteAddress: '192.0.2.9', mailFrom: '', helo: 'stranger.test' }
const message = arf({ recipient: 'ada@one.test' })

const loop = await openLoop('arf.loop.test')
const mail = await openLoop('mail.test')
const evil = await openLoop('evil.test')
const resolver = fakeResolver({
  ...loop.records,
  ...mail.records,
  ...evil.records,
  'arf.loop.test': { txt: ['v=spf1 ip4:203.0.113.7 -all'] },
  'mail.test': { txt: ['v=spf1 ip4:203.0.113.7 -all'] },
  'out.arf.loop.test': { txt: ['v=spf1 ip4:203.0.113.8 -all'] },
})

const look = (raw: string, envelope: Partial<ReportEnvelope> = {}, dns = resolver) =>
  evidenceOf({
    loops,
    raw: Buffer.from(raw, 'latin1'),
    envelope: { ...stranger, ...envelope },
    resolver: dns,
  })

t.test('a signature of the loop proves a report, whoever hands it in', async (t) => {
  t.same(await look(loop.sign(message)), { kind: 'proved', by: 'Loop: DKIM of arf.loop.test' })
  const below = await openLoop('eu.arf.loop.test')
  const records = { ...below.records }
  t.same(await look(below.sign(message), {}, fakeResolver(records)), {
    kind: 'proved',
    by: 'Loop: DKIM of eu.arf.loop.test',
  })
  t.same(await look(mail.sign(message, '"Staff" <STAFF@mail.test>')), {
    kind: 'proved',
    by: 'Mail: DKIM of mail.test',
  })
})

t.test('what anybody can write proves nothing', async (t) => {
  const from = 'feedback@arf.loop.test'
  const signed = loop.sign(message)
  const noSignature = message.replace(/^From: .*$/m, `From: ${from}`)
  const { privateKeyPem: privateKey } = loop
  const signatureData = [{ signingDomain: 'arf.loop.test', selector: 'fbl', privateKey }]
  const signedUpTo = async (length?: number) => {
    const how = { canonicalization: 'relaxed/relaxed', maxBodyLength: length }
    const options = { signatureData: signatureData.map((data) => ({ ...data, ...how })) }
    return (await dkimSign(noSignature, options as Parameters<typeof dkimSign>[1])).signatures
  }
  const signatures = await signedUpTo(20)
  t.match(signatures, /; l=20;/)
  t.match(await look((await signedUpTo()) + noSignature), { kind: 'proved' })
  const cases: [string, string, RegExp][] = [
    ['unsigned', noSignature, /Loop has not signed it/],
    ['signed by a stranger', evil.sign(message, from), /Loop has not signed it/],
    ['a stranger of its own name', evil.sign(message), /feedback@evil\.test is not a known/],
    ['a user of a mailbox domain', mail.sign(message, 'eve@mail.test'), /is not a known/],
    ['the loop in the words', mail.sign(message, '"staff@mail.test" <eve@mail.test>'), /no From/],
    ['two addresses', mail.sign(message, 'eve@mail.test, <staff@mail.test>'), /no From/],
    ['a changed body', signed.replace('ada@one.test', 'bob@one.test'), /Loop has not signed it/],
    ['another From above', `From: x@evil.test\r\n${signed}`, /no From with a single/],
    ['a part signed alone', signatures + noSignature, /Loop has not signed it/],
    ['a domain that looks like it', evil.sign(message, 'a@xarf.loop.test'), /is not a known/],
    ['no header', '', /no From/],
    ['a huge header', `${'X-A: b\r\n'.repeat(3_000)}${signed}`, /too large/],
    ['many signatures', `${'DKIM-Signature: a=b\r\n'.repeat(21)}${signed}`, /too many/],
  ]
  for (const [name, raw, why] of cases) {
    const evidence = await look(raw)
    t.match(evidence, { kind: 'unproved', why }, name)
  }
})

t.test(
  'SPF of the loop proves a report, but not where users send by the same servers',
  async (t) => {
    const from = (address: string) => message.replace(/^From: .*$/m, `From: ${address}`)
    const fromLoop = from('feedback@arf.loop.test')
    const own = { remoteAddress: '203.0.113.7', mailFrom: 'bounce@arf.loop.test' }
    t.same(await look(fromLoop, own), { kind: 'proved', by: 'Loop: SPF of arf.loop.test' })
    t.same(await look(fromLoop, { remoteAddress: '203.0.113.8', helo: 'out.arf.loop.test' }), {
      kind: 'proved',
      by: 'Loop: SPF of out.arf.loop.test',
    })
    for (const [raw, envelope] of [
      [fromLoop, { ...own, remoteAddress: '203.0.113.9' }],
      [fromLoop, { ...own, mailFrom: 'a@stranger.test' }],
      [from('a@stranger.test'), own],
      [from('staff@mail.test'), { ...own, mailFrom: 'staff@mail.test' }],
    ] as const) {
      t.match(await look(raw, envelope), { kind: 'unproved' })
    }
  },
)

t.test(
  'the operator vouches for networks, and a DNS that is out of order is asked again',
  async (t) => {
    t.same(await look(message, { remoteAddress: '198.51.100.4' }), {
      kind: 'proved',
      by: 'Loop: the list names 198.51.100.4',
    })
    const broken = fakeResolver({ [loop.name]: { fail: 'SERVFAIL' } })
    t.match(await look(loop.sign(message), {}, broken), { kind: 'unknown', cause: /^DKIM: / })
    const noSpf = fakeResolver({ 'arf.loop.test': { fail: 'SERVFAIL' } })
    const sent = { remoteAddress: '203.0.113.7', mailFrom: 'bounce@arf.loop.test' }
    const raw = message.replace(/^From: .*$/m, 'From: feedback@arf.loop.test')
    t.match(await look(raw, sent, noSpf), { kind: 'unknown', cause: /^SPF: / })
  },
)

t.test("no stranger's name is ever asked for", async (t) => {
  const dns = fakeResolver({})
  const evils = evil.sign(message, 'feedback@arf.loop.test')
  await look(evils, { mailFrom: 'a@evil.test', helo: 'evil.test' }, dns)
  await look(evil.sign(message), { mailFrom: 'a@evil.test', helo: 'evil.test' }, dns)
  t.same(dns.questions, [])
})

t.test('the list that comes with Posthorn is good, and an own file stands over it', async (t) => {
  const shipped = packageFile('config/feedback-loops.toml')
  const byName = (files: string[]) =>
    new Map(loadFeedbackLoops(files).map((one) => [one.name, one]))
  t.same(byName([shipped]).get('Yahoo CFL')?.domains, ['arf.mail.yahoo.com'])
  const dir = makeTempDir(t)
  const own = join(dir, 'feedback-loops.toml')
  writeFileSync(
    own,
    '[[loops]]\nname = "Yahoo CFL"\ndomains = []\n[[loops]]\nname = "Mine"\nnetworks = ["192.0.2.0/24"]\n',
  )
  const both = byName([shipped, own])
  t.same(both.get('Yahoo CFL')?.domains, [])
  t.same(both.get('Mine')?.networks, ['192.0.2.0/24'])
  t.ok(both.has('Validity'))
  const bad = join(dir, 'bad.toml')
  writeFileSync(
    bad,
    'loop = 1\n[[loops]]\nname = 3\ndomains = ["Upper.test"]\nsenders = "a@b.test"\nnetworks = ["x"]\nselector = "s"\n',
  )
  t.throws(() => loadFeedbackLoops([shipped, bad]), {
    name: 'OperatorError',
    message:
      /^Bad feedback loops \(.*bad\.toml\):\n {2}loop: no such key; is loops meant\? known here: loops \(line 1\)\n(?: {2}\[\[loops\]\] 1: (?:selector: no such key|(?:name|domains|senders|networks): .*, expected ).*\(line \d\)\n?){5}$/,
  })
  t.throws(() => loadFeedbackLoops([join(dir, 'none')]), { message: /^Cannot read the feedback/ })
})

t.test('no mutation of a good report is proved', async (t) => {
  const signed = loop.sign(message)
  const covered = signed.indexOf('\r\n\r\n')
  const kinds = new Set<Evidence['kind']>()
  for (let at = covered + 4; at < signed.length - 2; at += 29) {
    if (/\s/.test(signed[at] ?? ' ')) continue
    const raw = `${signed.slice(0, at)}\x01${signed.slice(at + 1)}`
    kinds.add((await look(raw)).kind)
  }
  t.same([...kinds], ['unproved'])
})
