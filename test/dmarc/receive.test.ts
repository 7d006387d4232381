import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { makeNameSources, readDmarc } from '../../src/dmarc/index.js'
import { addDomain } from '../../src/domains/index.js'
import { startInbound } from '../inbound/start.js'
import { FakeClock } from '../support/clock.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { fixture, mailOf, mailWith, reportedOn, shapes, signerFor, zipped } from './aggregates.js'

const to = 'dmarc@mail.posthorn.test'
const google = await signerFor('google.com')
const stranger = await signerFor('evil.test')
const signers = Object.fromEntries([google, stranger].map(({ name, txt }) => [name, { txt }]))

/** The listener, with a domain that is verified here. */
async function listening(t: Test, domains = ['shop.test']) {
  const clock = new FakeClock(reportedOn)
  const store = await openTestStore(t, { clock })
  const account = await createAccount({ store, clock }, 'Shop')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  for (const name of domains) {
    await addDomain({ store, clock, key }, account.id, name, { trust: true })
  }
  const resolver = fakeResolver({ ...signers, '192.0.2.10': { ptr: ['mail.posthorn.test'] } })
  const inbound = await startInbound(t, { clock, store, resolver })
  const read = () => {
    const of = [...inbound.counted].filter(([name]) => name.startsWith('posthorn_reports_total '))
    return of.reduce((sum, [, n]) => sum + n, 0)
  }
  const isRead = async (count: number) => {
    for (let waited = 0; read() < count; waited += 10) {
      if (waited >= 20_000) throw new Error('It is never read')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  /** Resolves when it has been read. */
  const bring = async (mail: Buffer, recipient = to) => {
    const before = read()
    const reply = await inbound.give(mail, recipient, 'reports@reporter.test')
    if (reply.startsWith('250')) await isRead(before + 1)
    return reply
  }
  const shown = async (name = 'shop.test') => {
    const domain = await store.read
      .selectFrom('domains')
      .select(['id', 'name'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    const nameSources = makeNameSources({ store, clock, resolver })
    const ownAddresses = ['192.0.2.10']
    return await readDmarc(
      { read: store.read, clock },
      {
        domain,
        days: 7,
        ownAddresses,
        nameSources,
      },
    )
  }
  const rows = () => store.read.selectFrom('dmarc_sources').selectAll().execute()
  return { ...inbound, store, clock, resolver, bring, isRead, shown, rows }
}

t.test('reports of five receivers are read and shown by source', async (t) => {
  const { bring, shown, counted, resolver } = await listening(t)
  for (const name of Object.keys(shapes) as (keyof typeof shapes)[]) {
    const mail = name === 'google' ? google.sign(mailOf(name)) : mailOf(name)
    t.match(await bring(mail), /^250 /, name)
  }
  t.equal(counted.get('posthorn_reports_total aggregate counted'), 5)
  const found = await shown()
  t.match(found, { reports: 5, messages: 169, passed: 160, policy: 'none' })
  const sources = Object.fromEntries(found.sources.map((source) => [source.address, source]))
  t.match(sources['192.0.2.10'], {
    kind: 'ours',
    name: 'mail.posthorn.test',
    messages: 154,
    passed: 154,
    advice: '',
    reporters: ['Fastmail Pty Ltd', 'Outlook.com', 'google.com'],
    unproven: 34,
    dkimPassed: 154,
    spfPassed: 123,
  })
  t.match(sources['198.51.100.77'], {
    kind: 'other',
    messages: 9,
    passed: 0,
    identifiers: 'spf=pass spam.example',
    advice: /p=quarantine/,
  })
  t.match(sources['2001:db8::25'], { kind: 'forwarder', messages: 4, passed: 4, advice: '' })
  t.match(sources['203.0.113.5'], { kind: 'service', messages: 2, passed: 2 })
  t.same(
    found.reporters.filter(({ proof }) => proof !== ''),
    [{ name: 'google.com', proof: 'google.com', reports: 1 }],
  )
  await shown()
  t.equal(resolver.count('192.0.2.10', 'ptr'), 1, 'a name is looked up when it is shown, and kept')
})

t.test('the same report counts once, and a forged one in its name beside it', async (t) => {
  const { bring, shown, counted } = await listening(t)
  const signed = google.sign(mailOf('google'))
  for (let i = 0; i < 3; i++) await bring(signed)
  t.equal(counted.get('posthorn_reports_total aggregate seen before'), 2)
  t.match(await shown(), { reports: 1, messages: 129 })
  await bring(mailOf('google'))
  const { sources, reporters } = await shown()
  t.match(sources[0], { messages: 240, unproven: 120 })
  t.same(reporters.map(({ proof }) => proof).sort(), ['', 'google.com'])
})

t.test('who signs as another is shown by what it signs as', async (t) => {
  const { bring, shown, resolver } = await listening(t)
  const of = { from: 'reports@evil.test', type: 'application/zip' }
  await bring(stranger.sign(mailWith(zipped(fixture('google')), of)))
  t.same((await shown()).reporters, [{ name: 'evil.test', proof: 'evil.test', reports: 1 }])
  const before = resolver.questions.length
  const forged = mailWith(zipped(fixture('google')), { ...of, from: 'reports@google.com' })
  await bring(stranger.sign(forged))
  t.equal((await shown()).reporters.length, 2)
  t.notOk(
    resolver.questions.slice(before).includes(`txt ${stranger.name}`),
    'no key of another domain is asked for',
  )
})

t.test('a report whose key the DNS does not tell waits, and is counted in the end', async (t) => {
  const { shown, resolver, clock, give, store, isRead } = await listening(t)
  resolver.set(google.name, { fail: 'SERVFAIL' })
  await give(google.sign(mailOf('google')), to)
  const tries = async () =>
    (await store.read.selectFrom('inbound_spool').select('tries').executeTakeFirst())?.tries
  for (let waited = 0; (await tries()) === 0 && waited < 1_000; waited++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.equal(await tries(), 1)
  resolver.set(google.name, { txt: google.txt })
  // Only then does it wait for its time.
  await clock.advance(2_000)
  await isRead(1)
  t.match((await shown()).reporters, [{ name: 'google.com', proof: 'google.com' }])
})

t.test('a domain below one of ours is its own where it is here', async (t) => {
  const { bring, shown } = await listening(t, ['shop.test', 'news.shop.test'])
  await bring(mailOf('yahoo'))
  t.match(await shown('news.shop.test'), { messages: 4 })
  t.match(await shown('shop.test'), { messages: 0 })
})

t.test('nothing is taken without a domain of ours, nor counted for one of others', async (t) => {
  const none = await listening(t, [])
  t.match(await none.bring(mailOf('google')), /^550 5\.1\.1 /)
  const other = await listening(t, ['other.test'])
  t.match(await other.bring(mailOf('google')), /^250 /)
  t.equal(other.counted.get('posthorn_reports_total aggregate of no domain here'), 1)
  t.same(await other.rows(), [])
})

t.test('hostile and broken reports cost little and are left to the operator', async (t) => {
  const { bring, rows, counted, store, shown } = await listening(t)
  const google = fixture('google').toString()
  const of = { from: 'a@b.test', type: 'application/gzip' }
  const record = google.slice(google.indexOf('<record>'), google.indexOf('</record>') + 9)
  const many = google.replace(record, record.repeat(30_000))
  const lies = zipped(Buffer.alloc(40_000_000, '<'))
  // What the archive says of its size, in both of its headers.
  for (const mark of [0x04034b50, 0x02014b50]) {
    for (let at = 0; at < lies.length - 4; at++) {
      if (lies.readUInt32LE(at) === mark)
        lies.writeUInt32LE(100, at + (mark === 0x04034b50 ? 22 : 24))
    }
  }
  const laughs = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  ).join('')
  const cases: Record<string, Buffer> = {
    'a gzip bomb': gzipSync(Buffer.alloc(80_000_000, ' ')),
    'a ZIP bomb': zipped(Buffer.alloc(40_000_000, '<')),
    'a ZIP that lies about its size': lies,
    'a ZIP that is cut': zipped(Buffer.from(google)).subarray(0, 300),
    'a gzip that is cut': gzipSync(google).subarray(0, 200),
    'XML that is cut': Buffer.from(google.slice(0, 900)),
    'a billion laughs': Buffer.from(
      `<?xml version="1.0"?><!DOCTYPE feedback [<!ENTITY l0 "ha">${laughs}]><feedback>&l9;</feedback>`,
    ),
    'a file of this machine': Buffer.from(
      google
        .replace(
          '<feedback>',
          '<!DOCTYPE feedback [<!ENTITY f SYSTEM "file:///etc/passwd">]><feedback>&f;',
        )
        .replace('17386912034470218713', '')
        .replace('<begin>1795132800</begin>', '<begin>&f;</begin>'),
    ),
    'too many records': gzipSync(many),
    'too deep': Buffer.from('<feedback>'.repeat(100_000)),
    'another root': Buffer.from('<html><body>Hello</body></html>'),
    'no address': Buffer.from(google.replace('192.0.2.10', 'localhost')),
    'no count': Buffer.from(google.replace('<count>120</count>', '<count>-1</count>')),
    'JSON that is none': Buffer.from('{"policies": ['),
    nothing: Buffer.alloc(0),
  }
  for (const [name, file] of Object.entries(cases))
    t.match(await bring(mailWith(file, of)), /^250/, name)
  t.same(await rows(), [])
  t.equal(counted.get('posthorn_reports_total aggregate unreadable'), Object.keys(cases).length)
  const kept = await store.read.selectFrom('operator_mails').select('subject').execute()
  t.equal(kept.length, Object.keys(cases).length)
  const tooLarge =
    'No aggregate report that can be read: it is larger than 32 MiB when it is unpacked'
  t.same(
    kept.slice(0, 2).map(({ subject }) => subject),
    [tooLarge, tooLarge],
  )

  const old = google.replaceAll('17951328', '17801328').replaceAll('17952191', '17802191')
  await bring(mailWith(Buffer.from(old), of))
  t.equal(counted.get('posthorn_reports_total aggregate implausible'), 1)
  await bring(mailOf('google'))
  t.match(await shown(), { messages: 129 })
})

t.test('elements that are empty, or that nobody knows, are passed over', async (t) => {
  const { bring, shown, counted } = await listening(t)
  const google = fixture('google').toString()
  const of = { from: 'a@b.test', type: 'application/gzip' }
  const empty = google
    .replace('<report_metadata>', '<report_metadata><extra_contact_info/><error/>')
    .replaceAll('</policy_evaluated>', '<reason/></policy_evaluated>')
    .replaceAll('<identifiers>', '<identifiers><envelope_to/>')
  await bring(mailWith(gzipSync(empty), of))
  t.match(await shown(), { reports: 1, messages: 129 })

  const long = 'x'.repeat(90)
  const unknown = Array.from({ length: 40_000 }, (_, i) => `<a${i}>1</a${i}>`).join('')
  const nested = `<${long}>`.repeat(8) + unknown + `</${long}>`.repeat(8)
  const more = google.replace('17386912034470218713', 'r2')
  await bring(mailWith(gzipSync(more.replace('</feedback>', `${nested}</feedback>`)), of))
  t.match(await shown(), { reports: 2, messages: 258 }, 'none of them is kept')

  const huge = 'y'.repeat(4_000_000)
  const slow = `<feedback><${huge}>${'<b></b>'.repeat(500_000)}</${huge}></feedback>`
  await bring(mailWith(gzipSync(slow), of))
  t.equal(counted.get('posthorn_reports_total aggregate unreadable'), 1, 'and soon')
})

t.test('more addresses than there is room for count without being told apart', async (t) => {
  const { bring, rows, shown } = await listening(t)
  const xml = fixture('google').toString()
  const record = xml.slice(xml.indexOf('<record>'), xml.indexOf('</record>') + 9)
  const [head, tail] = [xml.slice(0, xml.indexOf('<record>')), '</feedback>']
  const records = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) =>
      record.replace('192.0.2.10', `10.${Math.floor((from + i) / 256)}.${(from + i) % 256}.1`),
    ).join('')
  for (let report = 0; report < 4; report++) {
    const text =
      head.replace('17386912034470218713', `r${report}`) + records(report * 600, 600) + tail
    await bring(
      google.sign(mailWith(gzipSync(text), { from: 'a@google.com', type: 'application/gzip' })),
    )
  }
  const found = await rows()
  t.ok(found.length <= 1_002, `${found.length} rows`)
  t.equal((await shown()).messages, 4 * 600 * 120, 'all of them count')
})

t.test('reports about TLS with our own servers are counted', async (t) => {
  const { bring, shown, counted } = await listening(t)
  const policy = { 'policy-type': 'no-policy-found', 'policy-domain': 'bounce.shop.test' }
  const report = {
    'organization-name': 'Google Inc.',
    'date-range': {
      'start-datetime': '2026-11-20T00:00:00Z',
      'end-datetime': '2026-11-20T23:59:59Z',
    },
    'contact-info': 'smtp-tls-reporting@google.com',
    'report-id': '2026-11-20T00:00:00Z_bounce.shop.test',
    policies: [
      {
        policy,
        summary: { 'total-successful-session-count': 40, 'total-failure-session-count': 3 },
        'failure-details': [{ 'result-type': 'certificate-expired', 'failed-session-count': 3 }],
      },
      {
        policy: { ...policy, 'policy-type': 'sts' },
        summary: { 'total-successful-session-count': 2, 'total-failure-session-count': 0 },
      },
    ],
  }
  const of = { from: 'noreply-smtp-tls-reporting@google.com', type: 'application/tlsrpt+gzip' }
  const mail = google.sign(mailWith(gzipSync(JSON.stringify(report)), of))
  await bring(mail, 'tlsrpt@mail.posthorn.test')
  await bring(mail, 'tlsrpt@mail.posthorn.test')
  t.match((await shown()).tls, {
    reports: 1,
    successes: 42,
    failures: 3,
    types: { 'certificate-expired': 3 },
  })
  t.equal(counted.get('posthorn_reports_total aggregate seen before'), 1)
})
