import { createHash, createPrivateKey, generateKeyPairSync, verify } from 'node:crypto'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { relaxBody, relaxHeader } from '../../src/dkim/canonical.js'
import { makeDkimKey, openSigner, signMessage, signMessageAsync } from '../../src/dkim/index.js'
import { signDigest } from '../../src/dkim/sign.js'
import { composeMessage } from '../../src/mime/index.js'
import { randomMail } from '../mime/random-mail.js'
import {
  mailauthVerdicts,
  publishedKey,
  pythonDkimMissing,
  pythonVerdicts,
  signed,
  timeSeconds,
} from './verifiers.js'

const keys = [await publishedKey('rsa-sha256'), await publishedKey('ed25519-sha256')]
const [rsa, ed25519] = keys as [(typeof keys)[0], (typeof keys)[0]]
const bothPass = ['pass', 'pass']

const lines = (...fields: string[]) => Buffer.from(fields.map((field) => `${field}\r\n`).join(''))
const header = lines(
  'From: Ann <ann@example.com>',
  'To: bob@example.net',
  'Subject: Hello',
  'Date: Sat, 21 Nov 2026 12:00:00 +0000',
  'Message-ID: <1@example.com>',
)
const body = Buffer.from('Hi Bob,\r\n\r\nsee you.\r\n')

/** Bodies and headers that relaxing has to work on. */
const odd: { name: string; header: Buffer; body: Buffer }[] = [
  ...Object.entries({
    empty: '',
    'one CRLF': '\r\n',
    'only CRLFs': '\r\n\r\n\r\n',
    'only white space': ' \t \r\n \r\n\t',
    'no CRLF at the end': 'a',
    'a space at the end': 'a ',
    'spaces before line ends': 'a \r\nb\t\r\nc \t \r\n',
    'spaces at line starts': '  a\r\n\tb\r\n \r\n c\r\n',
    'tabs and runs inside': 'a\tb\t\tc  d \t e\r\n',
    'empty lines at the end': 'a\r\n\r\n\r\n\r\n',
    'blank lines at the end': 'a\r\n \r\n\t\r\n  ',
    'empty lines inside': '\r\n\r\na\r\n\r\nb',
    'octets over 127': 'é \u00a0 漢\r\n',
    'a late change': `${'x'.repeat(5000)}\r\n${'y'.repeat(70)} \r\n`,
    'dots and equals': '.\r\n..\r\n=\r\n',
  }).map(([name, text]) => ({ name: `body: ${name}`, header, body: Buffer.from(text) })),
  ...Object.entries({
    folded: 'Subject: a\r\n b\r\n\tc',
    'folded at once': 'Subject:\r\n a',
    'folded with runs': 'Subject:  a \t\r\n   b  ',
    'no value': 'Subject:',
    'a blank value': 'Subject:   ',
    'odd case': 'sUBJECT: A:b : c',
    'octets over 127': 'To: jörg@example.com',
    'an unsigned field': 'X-Other: 1',
    'two of a kind': 'List-Id: <1>\r\nList-Id: <2>',
  }).map(([name, field]) => ({
    name: `header: ${name}`,
    header: Buffer.concat([lines('From: ann@example.com'), Buffer.from(`${field}\r\n`)]),
    body,
  })),
]

t.test('mailauth accepts both signatures over odd bodies and headers', async (t) => {
  for (const { name, ...message } of odd) {
    t.same(await mailauthVerdicts(signed(message, keys), keys), bothPass, name)
  }
})

t.test('python3-dkim accepts them too', { skip: pythonDkimMissing }, async (t) => {
  const utf8 = { name: 'octet A0', header: lines('From: voilà@example.com'), body }
  const messages = [...odd, utf8]
  const verdicts = pythonVerdicts(
    messages.map((message) => signed(message, keys)),
    keys,
  )
  for (const [i, { name }] of messages.entries()) t.same(verdicts[i], [true, true], name)
})

t.test('100 random mails, composed and signed, are accepted', async (t) => {
  const mails: Buffer[] = []
  for (let seed = 1000; seed < 1100; seed++) {
    const raw = signed(composeMessage(randomMail(seed)), keys)
    t.same(await mailauthVerdicts(raw, keys), bothPass, `seed ${seed}`)
    mails.push(raw)
  }
  t.test('by python3-dkim as well', { skip: pythonDkimMissing }, async (t) => {
    const verdicts = pythonVerdicts(mails, keys)
    t.equal(verdicts.length, 100)
    for (const [i, verdict] of verdicts.entries()) t.same(verdict, [true, true], `seed ${1000 + i}`)
  })
})

t.test('signing in a thread gives the same fields', async (t) => {
  const signer = openSigner(systemClock)
  t.teardown(signer.close)
  const both = [rsa.key, ed25519.key]
  const options = { timeSeconds, expireSeconds: 604_800 }
  const bodies = Array.from({ length: 120 }, (_, i) => Buffer.from(`Mail ${i}\r\n`))
  // Both algorithms are deterministic (PKCS #1 v1.5, RFC 8032).
  t.same(
    await Promise.all(
      bodies.map((own) => signMessageAsync({ header, body: own }, both, options, signer)),
    ),
    bodies.map((own) => signMessage({ header, body: own }, both, options)),
  )
  t.equal((await signMessageAsync({ header, body }, [], options, signer)).length, 0)
})

t.test('the field is folded, dated and names each field once more than it occurs', async (t) => {
  const message = {
    header: Buffer.concat([
      header,
      lines('List-Unsubscribe: <https://example.com/u>', 'X-Other: 1'),
    ]),
    body,
  }
  const field = signMessage(message, [ed25519.key], { timeSeconds, expireSeconds: 60 }).toString()
  const bodyHash = createHash('sha256').update(body).digest('base64')
  const [signature] = /b=[\w+/=]{72}\r\n [\w+/=]{16}\r\n$/.exec(field) ?? []
  t.equal(
    field,
    [
      'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;',
      ' d=example.com;',
      ' s=ed255191; t=1700000000; x=1700000060;',
      ' h=from:from:to:to:cc:subject:subject:date:date:reply-to:message-id:',
      ' message-id:mime-version:content-type:content-transfer-encoding:',
      ' list-unsubscribe:list-unsubscribe:list-unsubscribe-post:list-id:',
      ' feedback-id:cfbl-address;',
      ` bh=${bodyHash};`,
      ` ${signature}`,
    ].join('\r\n'),
  )
  t.notMatch(signMessage(message, [rsa.key], { timeSeconds }).toString(), 'x=')
})

t.test('nothing that a reader sees can be changed or added', async (t) => {
  const message = {
    header: Buffer.concat([
      header,
      lines('List-Unsubscribe: <https://example.com/u>', 'MIME-Version: 1.0', 'X-Other: 1'),
    ]),
    body,
  }
  const raw = signed(message, keys).toString('latin1')
  const headerEnd = raw.indexOf('\r\n\r\n')
  const addBelow = (field: string) =>
    `${raw.slice(0, headerEnd)}\r\n${field}${raw.slice(headerEnd)}`
  const broken: Record<string, string> = {
    'Subject changed': raw.replace('Subject: Hello', 'Subject: Hullo'),
    'Subject removed': raw.replace('Subject: Hello\r\n', ''),
    'From changed': raw.replace('ann@', 'eve@'),
    'List-Unsubscribe changed': raw.replace('example.com/u>', 'example.com/v>'),
    'body changed': raw.replace('see you', 'see me'),
    'body extended': `${raw}PS: pay here\r\n`,
    'body cut': raw.slice(0, -'see you.\r\n'.length),
    'line joined': raw.replace('Hi Bob,\r\n\r\n', 'Hi Bob,\r\n'),
    'time moved': raw.replaceAll('t=1700000000', 't=1700000001'),
  }
  for (const field of [
    'From: Eve <eve@evil.example>',
    'To: eve@evil.example',
    'Cc: eve@evil.example',
    'Subject: Pay now',
    'Date: Sat, 21 Nov 2026 13:00:00 +0000',
    'Reply-To: eve@evil.example',
    'Message-ID: <2@evil.example>',
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    'List-Unsubscribe: <https://evil.example>',
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'List-Id: <evil.example>',
    'Feedback-ID: evil',
  ]) {
    broken[`${field} added on top`] = `${field}\r\n${raw}`
    broken[`${field} added below`] = addBelow(field)
  }
  const harmless = {
    'nothing changed': raw,
    'a trace field on top': `Received: from a by b; Sat, 21 Nov 2026 12:00:01 +0000\r\n${raw}`,
    'an unsigned field changed': raw.replace('X-Other: 1', 'X-Other: 2'),
    'folds and white space changed': raw
      .replace('Subject: Hello', 'SUBJECT:\r\n\tHello ')
      .replace('see you.', 'see  you. ')
      .concat('\r\n\r\n'),
  }
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  for (const [name, text] of Object.entries(broken)) {
    t.not(text, raw, `${name}: is a change`)
    const verdicts = await mailauthVerdicts(bytes(text), keys)
    t.notOk(verdicts.includes('pass'), name)
  }
  for (const [name, text] of Object.entries(harmless)) {
    t.same(await mailauthVerdicts(bytes(text), keys), bothPass, name)
  }
  t.test('python3-dkim says the same', { skip: pythonDkimMissing }, async (t) => {
    const texts = [...Object.values(broken), ...Object.values(harmless)]
    t.same(
      pythonVerdicts(texts.map(bytes), keys),
      texts.map((_, i) => {
        const accepted = i >= Object.keys(broken).length
        return [accepted, accepted]
      }),
    )
  })
})

t.test('relaxed bodies, octet for octet', async (t) => {
  const cases: [body: string, relaxed: string][] = [
    // RFC 6376 §3.4.5.
    [' C \r\nD \t E\r\n\r\n\r\n', ' C\r\nD E\r\n'],
    ['', ''],
    ['\r\n', ''],
    [' \r\n\t\r\n', ''],
    ['a', 'a\r\n'],
    ['a\r\n', 'a\r\n'],
    ['a\tb', 'a b\r\n'],
    ['\r\n\r\na', '\r\n\r\na\r\n'],
  ]
  for (const [text, relaxed] of cases) {
    t.equal(relaxBody(Buffer.from(text)).toString(), relaxed, JSON.stringify(text))
  }
  const clean = Buffer.from('a b\r\n\r\nc\r\n')
  const relaxed = relaxBody(clean)
  clean[0] = 0x62
  t.equal(relaxed.toString(), 'b b\r\n\r\nc\r\n', 'what is relaxed already is not copied')
})

t.test('random bodies are relaxed as RFC 6376 §3.4.4 says it', async (t) => {
  const pieces = ['\r\n', ' ', ' ', '  ', '\t', 'a', 'word', 'of-four', '=3D', '\xe9', '.', '\x7f']
  let seed = 20_261_128
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (seed >> 8) % below
  }
  for (let round = 0; round < 2_000; round++) {
    const body = Array.from({ length: random(80) }, () => pieces[random(pieces.length)]).join('')
    const lines = body.split('\r\n').map((line) => line.replace(/[\t ]+/g, ' ').replace(/ $/, ''))
    const relaxed = lines.join('\r\n').replace(/(?:\r\n)*$/, '')
    const made = relaxBody(Buffer.from(body, 'latin1')).toString('latin1')
    if (made !== (relaxed && `${relaxed}\r\n`)) t.fail(JSON.stringify({ body, made }))
  }
})

t.test('relaxed headers, octet for octet', async (t) => {
  const cases: [header: string, name: string, line: string][] = [
    // RFC 6376 §3.4.5.
    ['A: X\r\n', 'a', 'a:X'],
    ['B : Y\t\r\n\tZ  \r\n', 'b', 'b:Y Z'],
    ['Subject \t:a:b\r\n', 'subject', 'subject:a:b'],
    ['Subject:\r\n', 'subject', 'subject:'],
    ['Subject: \t\r\n \r\n', 'subject', 'subject:'],
    // White space is SP and HTAB only (RFC 6376 §2.8); mailauth takes octet A0 of a UTF-8 à as well.
    ['Subject: \xa0 a\x0b\r\n', 'subject', 'subject:\xa0 a\x0b'],
  ]
  for (const [text, name, line] of cases) {
    t.same(relaxHeader(Buffer.from(text, 'latin1')), [{ name, line }], JSON.stringify(text))
  }
})

t.test('the example of RFC 8463 §A comes out the same', async (t) => {
  const seed = Buffer.from('nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=', 'base64')
  // RFC 8410 §7: PKCS#8 of a bare Ed25519 seed.
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key = makeDkimKey({
    domain: 'football.example.com',
    selector: 'brisbane',
    algorithm: 'ed25519-sha256',
    privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
  })
  const message = {
    header: lines(
      'From: Joe SixPack <joe@football.example.com>',
      'To: Suzie Q <suzie@shopping.example.net>',
      'Subject: Is dinner ready?',
      'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)',
      'Message-ID: <20030712040037.46341.5F8J@football.example.com>',
    ),
    body: lines('Hi.', '', 'We lost the game.  Are you hungry yet?', '', 'Joe.'),
  }
  t.match(
    signMessage(message, [key], { timeSeconds }).toString(),
    ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
  )
  const signature = relaxHeader(
    lines(
      'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;',
      ' d=football.example.com; i=@football.example.com;',
      ' q=dns/txt; s=brisbane; t=1528637909; h=from : to :',
      ' subject : date : message-id : from : subject : date;',
      ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
      ' b=',
    ),
  )
  const data = [...relaxHeader(message.header), ...signature].map((field) => field.line)
  t.equal(
    signDigest(data.join('\r\n'), key).toString('base64'),
    '/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==',
  )
})

t.test('what would make a signature that fails is refused', async (t) => {
  const refused: Record<string, { header: Buffer; body: Buffer }> = {
    'no From': { header: lines('To: bob@example.net'), body },
    'two From': { header: lines('From: a@example.com', 'FROM : b@example.com'), body },
    'a header cut off': { header: Buffer.from('From: a@example.com'), body },
    'a header with its blank line': { header: lines('From: a@example.com', ''), body },
    'a line that is no field': { header: lines('From: a@example.com', 'hello'), body },
    'a bare LF in the header': { header: lines('From: a@example.com', 'To: a\nb'), body },
    'a bare LF in the body': { header, body: Buffer.from('a\nb\r\n') },
    'a bare CR in the body': { header, body: Buffer.from('a\rb\r\n') },
    'a bare CR after white space': { header, body: Buffer.from('a \rb\r\n') },
    'a bare LF after white space': { header, body: Buffer.from('a  \nb\r\n') },
    'a CR at the end': { header, body: Buffer.from('a\r') },
  }
  const signer = openSigner(systemClock)
  t.teardown(signer.close)
  for (const [name, message] of Object.entries(refused)) {
    t.throws(() => signMessage(message, [rsa.key], { timeSeconds }), TypeError, name)
    await t.rejects(signMessageAsync(message, [rsa.key], { timeSeconds }, signer), TypeError, name)
  }
})

t.test('only keys and names that verifiers accept are opened', async (t) => {
  const short = generateKeyPairSync('rsa', { modulusLength: 1016 }).privateKey
  const { privateKey: enough, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const edwards = generateKeyPairSync('ed25519').privateKey
  const options = { domain: 'example.com', selector: 's1', algorithm: 'rsa-sha256' as const }
  t.ok(makeDkimKey({ ...options, privateKey: enough }))
  const pkcs1 = enough.export({ type: 'pkcs1', format: 'pem' }).toString()
  const key = makeDkimKey({ ...options, privateKey: pkcs1 })
  t.ok(verify('sha256', Buffer.from('x'), publicKey, signDigest('x', key)), 'PKCS#1 PEM')
  t.throws(() => makeDkimKey({ ...options, privateKey: short }), TypeError, '1016 bits')
  t.throws(() => makeDkimKey({ ...options, privateKey: edwards }), TypeError, 'another algorithm')
  t.throws(() => makeDkimKey({ ...options, privateKey: publicKey }), TypeError, 'a public key')
  t.throws(() => makeDkimKey({ ...options, privateKey: 'no PEM' }))
  for (const name of ['', 'a b', 'a;b', 'a\r\nb', 'é.example', 'Example.com', 'a..b', '.a', 'a.']) {
    t.throws(() => makeDkimKey({ ...options, privateKey: enough, domain: name }), TypeError, name)
    t.throws(() => makeDkimKey({ ...options, privateKey: enough, selector: name }), TypeError, name)
  }
})

t.test('fields are chosen by their whole names, whatever was signed before', async (t) => {
  const namesOf = (header: string, customNames: string[]) => {
    const message = { header: Buffer.from(header), body: Buffer.from('b\r\n'), customNames }
    return signMessage(message, [ed25519.key], { timeSeconds }).toString().replace(/\s/g, '')
  }
  for (const from of ['From: a@b\r\n', 'Subject: s\r\nFrom: a@b\r\n']) {
    t.match(namesOf(`${from}a,b: 1\r\n`, ['a,b']), /:a,b:a,b;bh/)
    t.match(namesOf(`${from}a: 1\r\nb: 2\r\n`, ['a', 'b']), /:a:a:b:b;bh/)
    t.match(namesOf(`${from}a: 1\r\nb: 2\r\n`, ['b', 'a']), /:b:b:a:a;bh/)
    t.match(namesOf(`${from}a: 1\r\nb: 2\r\n`, ['a']), /:a:a;bh/)
  }
})
