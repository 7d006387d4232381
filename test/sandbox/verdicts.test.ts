import { generateKeyPairSync } from 'node:crypto'
import { dkimSign } from 'mailauth'
import t from 'tap'
import type { Resolver } from '../../src/dns/index.js'
import { nodeLookup } from '../../src/dns/index.js'
import { listMessages } from '../../src/sandbox/index.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { startSandbox } from './start.js'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const rsaPublic = rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const edPublic = ed.publicKey
  .export({ type: 'spki', format: 'der' })
  .subarray(12)
  .toString('base64')
const records = {
  'r._domainkey.example.test': { txt: [`v=DKIM1; k=rsa; p=${rsaPublic}`] },
  'e._domainkey.example.test': { txt: [`v=DKIM1; k=ed25519; p=${edPublic}`] },
  '_dmarc.example.test': { txt: ['v=DMARC1; p=reject'] },
  'bounce.example.test': { txt: ['v=spf1 ip4:127.0.0.1 -all'] },
  'strict.test': {
    txt: ['v=spf1 mx a:host.strict.test -all'],
    mx: [{ preference: 1, exchange: 'mx.strict.test' }],
  },
  'mx.strict.test': { a: ['192.0.2.1'] },
  'host.strict.test': { a: ['192.0.2.2'], aaaa: ['2001:db8::1'] },
  'down.test': { fail: 'SERVFAIL' },
}
const plain = [
  'From: Zoe <zoe@example.test>',
  'To: a@b.test',
  'Subject: Hello',
  'Date: Sat, 21 Nov 2026 12:00:00 +0000',
  'Message-ID: <1@example.test>',
  '',
  'A body.',
  '',
].join('\r\n')

async function sign(message: string): Promise<string> {
  const key = (key: typeof rsa.privateKey) =>
    key.export({ type: 'pkcs8', format: 'pem' }).toString()
  const first = { signingDomain: 'example.test', selector: 'r', privateKey: key(rsa.privateKey) }
  const second = { signingDomain: 'example.test', selector: 'e', privateKey: key(ed.privateKey) }
  const { signatures, errors } = await dkimSign(message, {
    ...first, // asked for by the types, not used
    canonicalization: 'relaxed/relaxed',
    signatureData: [
      { ...first, algorithm: 'rsa-sha256' },
      { ...second, algorithm: 'ed25519-sha256' },
    ],
  })
  t.same(errors, [])
  return signatures + message
}

t.test('a mail signed with the published keys passes all three checks', async (t) => {
  const sandbox = await startSandbox(t, { resolver: fakeResolver(records) })
  await sandbox.send(await sign(plain), ['a@b.test'], 'v1@bounce.example.test')
  const [mail] = await sandbox.checked(1)
  t.match(mail?.verdicts, {
    dkim: [
      { result: 'pass', domain: 'example.test', selector: 'r', algorithm: 'rsa-sha256' },
      { result: 'pass', domain: 'example.test', selector: 'e', algorithm: 'ed25519-sha256' },
    ],
    spf: { result: 'pass', domain: 'bounce.example.test' },
    dmarc: { result: 'pass', domain: 'example.test', policy: 'reject' },
  })
  t.equal(mail?.verdicts?.dkim.length, 2)
})

t.test('a mail changed on the way fails, body or header', async (t) => {
  const sandbox = await startSandbox(t, { resolver: fakeResolver(records) })
  const signed = await sign(plain)
  await sandbox.send(signed.replace('A body.', 'A bodY.'))
  await sandbox.send(signed.replace('Subject: Hello', 'Subject: Hullo'))
  const mails = await sandbox.checked(2)
  for (const { verdicts } of mails) {
    t.same(
      verdicts?.dkim.map(({ result }) => result),
      ['fail', 'fail'],
    )
    t.equal(verdicts?.dmarc.result, 'fail')
  }
  t.match(mails[1]?.verdicts?.dkim[0]?.info, /body hash/)
})

t.test('each other case has a verdict of its own', async (t) => {
  const sandbox = await startSandbox(t, { resolver: fakeResolver(records) })
  const signed = await sign(plain)
  const moved = (selector: string, domain: string) =>
    signed
      .replaceAll(/ s=[re];/g, ` s=${selector};`)
      .replaceAll(' d=example.test;', ` d=${domain};`)
  const cases: [name: string, message: string, from: string, expected: object][] = [
    ['unsigned', plain, 'a@strict.test', { dkim: [{ result: 'none' }], spf: { result: 'fail' } }],
    [
      'no key published',
      moved('x', 'example.test'),
      '',
      { dkim: [{ result: 'neutral', info: /no key/ }, {}] },
    ],
    ['a DNS that fails', moved('r', 'down.test'), 'a@down.test', { spf: { result: 'temperror' } }],
    ['no From header', 'Subject: x\r\n\r\nx', 'a@example.test', { dmarc: { result: 'none' } }],
    [
      'a thousand signatures',
      `${'DKIM-Signature: v=1; a=rsa-sha256; d=x.test; s=s; bh=x; b=x\r\n'.repeat(1_000)}${plain}`,
      'a@example.test',
      { dkim: [{ result: 'permerror', info: 'too many signatures' }] },
    ],
    [
      'a field of 300,000 lines',
      `Subject: x${'\r\n y'.repeat(300_000)}\r\n${plain}`,
      'a@example.test',
      { dkim: [{ result: 'permerror', info: 'the header is too large' }] },
    ],
    ['garbage', '\0\xff\r\n\r\n', 'a@example.test', { dkim: [{ result: 'none' }] }],
  ]
  for (const [index, [name, message, from, expected]] of cases.entries()) {
    await sandbox.send(message, ['a@b.test'], from)
    const [mail] = await sandbox.checked(index + 1)
    t.match(mail?.verdicts, expected, name)
  }
})

t.test('a slow check delays no other mail', async (t) => {
  let answer = () => {}
  const slow = new Promise<void>((resolve) => {
    answer = resolve
  })
  const fast = fakeResolver(records)
  const resolver: Resolver = { ...fast, txt: (name) => slow.then(() => fast.txt(name)) }
  const sandbox = await startSandbox(t, { resolver })
  const signed = await sign(plain)
  for (let i = 0; i < 10; i++) t.match(await sandbox.send(signed), /^250 /)
  const waiting = await listMessages(sandbox.store, { limit: 20 })
  t.equal(waiting.filter(({ verdicts }) => verdicts === undefined).length, 10)
  answer()
  for (const { verdicts } of await sandbox.checked(10)) t.equal(verdicts?.dkim[0]?.result, 'pass')
})

t.test('what a stop left unchecked is checked at the next start', async (t) => {
  const store = await openTestStore(t, { dataDir: makeTempDir(t) })
  const id = store.ids.serial()
  const raw = Buffer.from(await sign(plain))
  const row = {
    mail_from: '',
    rcpt_to: '[]',
    subject: '',
    header_from: '',
    helo: 'h.test',
    verdicts: null,
  }
  await store.write(async (tx) => {
    await tx
      .insertInto('sandbox_messages')
      .values({
        ...row,
        id,
        received_at: 0,
        remote_address: '127.0.0.1',
        tls: 0,
        size_bytes: raw.length,
      })
      .execute()
    await tx.insertInto('sandbox_sources').values({ id, raw }).execute()
  })
  const sandbox = await startSandbox(t, { store, resolver: fakeResolver(records) })
  const [mail] = await sandbox.checked(1)
  t.equal(mail?.verdicts?.dkim[0]?.result, 'pass')
})

t.test('a database that fails for a moment does not end the checking', async (t) => {
  const store = await openTestStore(t)
  const clock = new FakeClock()
  let broken = true
  let failed = () => {}
  const failure = new Promise<void>((resolve) => {
    failed = resolve
  })
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: () => failed(),
    child: () => log,
  }
  const read = new Proxy(store.read, {
    get(target, name) {
      if (broken && name === 'selectFrom') throw new Error('database is busy')
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const sandbox = await startSandbox(t, { store: { ...store, read }, clock, log })
  await failure
  broken = false
  await sandbox.send(plain)
  await clock.advance(5_000)
  t.equal((await sandbox.checked(1))[0]?.verdicts?.dkim[0]?.result, 'none')
})

t.test('one mail whose check cannot be written down keeps no other unchecked', async (t) => {
  const store = await openTestStore(t)
  const heal = await poison(store, 'update on sandbox_messages', "old.mail_from = 'bad@x.test'")
  const sandbox = await startSandbox(t, { store })
  // More than are checked together.
  for (let n = 0; n < 5; n++) await sandbox.send(plain, undefined, 'bad@x.test')
  await sandbox.send(plain)
  const checked = async () => {
    const messages = await listMessages(store, { limit: 10 })
    return messages.filter(({ verdicts }) => verdicts !== undefined)
  }
  while ((await checked()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal((await checked()).length, 1)
  await sandbox.close()
  await heal()
  const next = await startSandbox(t, { store })
  t.equal((await next.checked(6)).length, 6, 'the next start checks them')
})

t.test('our resolver answers mailauth as Node would', async (t) => {
  const lookup = nodeLookup(fakeResolver(records))
  t.same(await lookup('_dmarc.example.test', 'TXT'), [['v=DMARC1; p=reject']])
  t.same(await lookup('strict.test', 'MX'), [{ exchange: 'mx.strict.test', priority: 1 }])
  t.same(await lookup('host.strict.test', 'A'), ['192.0.2.2'])
  t.same(await lookup('host.strict.test', 'AAAA'), ['2001:db8::1'])
  await t.rejects(lookup('host.strict.test', 'TXT'), { code: 'ENODATA' })
  await t.rejects(lookup('host.strict.test', 'CNAME'), { code: 'ENODATA' })
  await t.rejects(lookup('1.0.0.127.in-addr.arpa', 'PTR'), { code: 'ENODATA' })
  await t.rejects(lookup('nowhere.test', 'TXT'), { code: 'ENOTFOUND' })
  await t.rejects(lookup('down.test', 'TXT'), { code: 'ESERVFAIL' })
})
