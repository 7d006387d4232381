import t from 'tap'
import { createKey } from '../../src/accounts/index.js'
import { addDomain } from '../../src/domains/index.js'
import { Talk } from '../sandbox/talk.js'
import { idOf, plainToken, startSubmission, submit } from './start.js'

t.setTimeout(240_000)

const posthorn = await startSubmission(t)
const { store, accountId } = posthorn
const clock = { now: () => Date.now() } as never
const head = 'From: ada@sender.test\r\nSubject: x\r\n'
const fresh = () => posthorn.loggedIn()

t.test('passwords go over TLS alone, and nothing goes without one', async (t) => {
  const talk = await Talk.open(t, posthorn.ports.starttls ?? 0)
  const offers = await talk.say('EHLO me.test')
  t.match(offers, /STARTTLS/)
  t.notMatch(offers, /AUTH/, 'it is not offered in clear')
  t.match(offers, /SIZE 16511624\b/)
  t.match(await talk.say(`AUTH PLAIN ${plainToken(posthorn.apiKey)}`), /^538 5\.7\./)
  t.match(await talk.say('MAIL FROM:<ada@sender.test>'), /^530 5\.7\.0 Issue STARTTLS/)
  await talk.say('STARTTLS')
  await talk.secure()
  t.match(await talk.say('EHLO me.test'), /AUTH PLAIN LOGIN/)
  t.match(await talk.say('MAIL FROM:<ada@sender.test>'), /^530 5\.7\.0 Log in first/)
  t.match(await talk.say('AUTH CRAM-MD5'), /^504 5\.5\.4/)
  t.match(await talk.say('AUTH LOGIN'), /^334/)
  t.match(await talk.say(Buffer.from('anybody').toString('base64')), /^334/)
  t.match(await talk.say(Buffer.from(posthorn.apiKey).toString('base64')), /^235 2\.7\.0/)
  t.match(await submit(talk, `${head}\r\nx`), /^250 2\.0\.0 Queued as /)
})

t.test('what was written before STARTTLS is not heard after it', async (t) => {
  const talk = await Talk.open(t, posthorn.ports.starttls ?? 0)
  await talk.say('EHLO me.test')
  talk.write('STARTTLS\r\nEHLO injected.test\r\nRSET\r\n')
  t.match(await talk.reply(), /^220/)
  await talk.secure()
  t.match(await talk.say('NOOP'), /^250/)
  t.equal(talk.unread, '')
})

t.test(
  '465 speaks TLS at once, and the plain listener takes passwords from its networks',
  async (t) => {
    const plain = await Talk.open(t, posthorn.ports.plain ?? 0)
    t.match(await plain.say('EHLO me.test'), /AUTH PLAIN LOGIN/)
    t.match(await plain.say(`AUTH PLAIN ${plainToken(posthorn.apiKey)}`), /^235/)
    t.match(await submit(plain, `${head}\r\nx`), /^250 2\.0\.0/)
    const { connect } = await import('node:tls')
    const socket = connect({
      port: posthorn.ports.tls ?? 0,
      host: '127.0.0.1',
      ca: posthorn.ca,
      servername: 'localhost',
    })
    t.teardown(() => socket.destroy())
    const greeting = await new Promise<string>((resolve) =>
      socket.once('data', (d) => resolve(String(d))),
    )
    t.match(greeting, /^220 .* ESMTP Posthorn submission/)
    t.ok(socket.authorized)
  },
)

t.test('a wrong password costs a second, ten a quarter of an hour', async (t) => {
  const began = Date.now()
  for (let i = 1; i <= 11; i++) {
    const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0, '127.9.9.9')
    await talk.say('EHLO me.test')
    const reply = await talk.say(`AUTH PLAIN ${plainToken('ph_wrong')}`)
    if (i <= 10) t.match(reply, /^535 5\.7\.8 The password is not an API key/)
    else t.match(reply, /^421 4\.7\.0 Too many failed/)
    talk.hangUp()
  }
  t.ok(Date.now() - began >= 9_000)
  const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0, '127.9.8.1')
  await talk.say('EHLO me.test')
  t.match(await talk.say(`AUTH PLAIN ${plainToken(posthorn.apiKey)}`), /^235/, 'others go on')
})

t.test('a key is asked for what it may do', async (t) => {
  await addDomain(
    { store, clock, key: { seal: () => Buffer.alloc(0) } as never },
    accountId,
    'other.test',
    {
      trust: true,
    },
  ).catch(() => {})
  const deps = { store, clock }
  const { key: reader } = await createKey(deps, accountId, 'r', { limits: { scope: 'read' } })
  const { key: elsewhere } = await createKey(deps, accountId, 'e', {
    limits: { networks: ['10.1.0.0/16'] },
  })
  for (const key of [reader, elsewhere]) {
    const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0, '127.7.7.7')
    await talk.say('EHLO me.test')
    t.match(await talk.say(`AUTH PLAIN ${plainToken(key)}`), /^535 5\.7\.8 This key/)
  }
  const { key: gone, id } = await createKey(deps, accountId, 'gone')
  const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0)
  await talk.say('EHLO me.test')
  t.match(await talk.say(`AUTH PLAIN ${plainToken(gone)}`), /^235/)
  // By the API: what another process, such as this test's store, deletes is heard of within a second only.
  t.equal((await posthorn.call('DELETE', `/v1/keys/${id}`)).status, 200)
  t.match(await talk.say('MAIL FROM:<ada@sender.test>'), /^421 4\.7\.0/)
})

const rows: [string, string, RegExp, { from?: string; to?: string[]; mail?: string }?][] = [
  [
    'a sender of another domain',
    `${head}\r\nx`,
    /^550 5\.7\.1 .*elsewhere\.test.*verified are: .*sender\.test/,
    { from: 'a@elsewhere.test' },
  ],
  ['no sender', `${head}\r\nx`, /^550 5\.6\.0 MAIL FROM needs/, { from: '' }],
  ['a From of another domain', 'From: a@elsewhere.test\r\n\r\nx', /^550 5\.7\.1 /],
  ['a Sender of another domain', `${head}Sender: a@elsewhere.test\r\n\r\nx`, /^550 5\.7\.1 /],
  [
    'two From',
    `${head}From: eve@sender.test\r\n\r\nx`,
    /^550 5\.6\.0 The field from is there 2 times/,
  ],
  [
    'two From, one with a space before its colon',
    `${head}From : eve@sender.test\r\n\r\nx`,
    /^550 5\.6\.0 /,
  ],
  [
    'a From of two',
    'From: a@sender.test, b@sender.test\r\n\r\nx',
    /^550 5\.6\.0 The message needs a From/,
  ],
  ['no From', 'Subject: x\r\n\r\nx', /^550 5\.6\.0 The message needs a From/],
  ['what is no header', 'Hello\r\n\r\nx', /^550 5\.6\.0 .*line 1 is no header field/],
  ['nothing', '', /^550 5\.6\.0/],
  ['a bare LF', `${head}\r\na\nb`, /^550 5\.6\.0 The message has a bare LF in line 4/],
  ['a bare CR', `${head}\r\na\rb`, /^550 5\.6\.0 The message has a bare CR/],
  ['a NUL', `${head}\r\na\0b`, /^550 5\.6\.0 The message has a NUL in line 4/],
  [
    'a line of 999',
    `${head}\r\n${'x'.repeat(999)}`,
    /^550 5\.6\.0 The message has over 998 octets in line 4/,
  ],
  ['a huge header', `${head}${'X-A: y\r\n'.repeat(9_000)}\r\nx`, /^550 5\.6\.0 The header is over/],
  ['501 fields', `${head}${'X-A: y\r\n'.repeat(501)}\r\nx`, /^550 5\.6\.0 .*over 500 fields/],
  [
    'an unknown X-Posthorn field',
    `${head}X-Posthorn-Typ: marketing\r\n\r\nx`,
    /^550 5\.6\.0 x-posthorn-typ is not a header/,
  ],
  [
    'the same twice',
    `${head}X-Posthorn-Type: transactional\r\nX-Posthorn-Type: marketing\r\n\r\nx`,
    /^550 5\.6\.0 X-Posthorn-Type is given twice/,
  ],
  [
    'another type',
    `${head}X-Posthorn-Type: spam\r\n\r\nx`,
    /^550 5\.6\.0 X-Posthorn-Type: Expected/,
  ],
  [
    'broken JSON',
    `${head}X-Posthorn-Metadata: {a}\r\n\r\nx`,
    /^550 5\.6\.0 X-Posthorn-Metadata cannot be read/,
  ],
  [
    'a time that is over',
    `${head}X-Posthorn-Scheduled-At: 2020-01-01T00:00Z\r\n\r\nx`,
    /^550 5\.6\.0 X-Posthorn-Scheduled-At is in the past/,
  ],
  ['a template that is not there', `${head}X-Posthorn-Template: nope\r\n\r\nx`, /^550 5\.6\.0 /],
  [
    'variables without a template',
    `${head}X-Posthorn-Variables: {}\r\n\r\nx`,
    /^550 5\.6\.0 X-Posthorn-Variables needs/,
  ],
  [
    'a topic on transactional mail',
    `${head}X-Posthorn-Topic: 0190a000-0000-7000-8000-000000000000\r\n\r\nx`,
    /^550 5\.6\.0 X-Posthorn-Topic is only for/,
  ],
  [
    'marketing of text alone',
    `${head}X-Posthorn-Type: marketing\r\n\r\nx`,
    /^550 5\.6\.0 Marketing mail needs one text and one HTML part/,
  ],
  ['a parameter that was not offered', `${head}\r\nx`, /^555 5\.5\.4 RET/, { mail: ' RET=FULL' }],
  ['more than the size', `${head}\r\nx`, /^552 5\.3\.4/, { mail: ' SIZE=16511625' }],
  ['an address that is none', `${head}\r\nx`, /^(501|553) 5\.1\.3/, { to: ['nobody'] }],
  [
    'a UTF-8 address without SMTPUTF8',
    `${head}\r\nx`,
    /^553 5\.6\.7/,
    { to: ['zoë@example.test'] },
  ],
]

t.test('what is refused is refused with its codes', async (t) => {
  let talk = await fresh()
  for (const [place, [name, message, expected, envelope]] of rows.entries()) {
    // Who is refused again and again is ended, too.
    if (place % 10 === 9) talk = await fresh()
    t.match(await submit(talk, message, envelope), expected, name)
    await talk.say('RSET')
  }
})

t.test(
  "smtp-server's own replies have their codes, on the wire and in the session's record",
  async (t) => {
    const plain = () => Talk.open(t, posthorn.ports.starttls ?? 0)
    const talk = await plain()
    t.match(await talk.say('NONSENSE'), /^500 5\.5\.2 /)
    t.match(await talk.say('MAIL FROM:<ada@sender.test>'), /^503 5\.5\.1 /)
    t.match(await talk.say('EHLO me.test'), /^250[- ](?![245]\.)/, 'RFC 2034 §3: none for EHLO')
    t.match(await talk.say('RCPT TO:<ann@example.test>'), /^503 5\.5\.1 /)
    t.match(await talk.say('HELP'), /^214 2\.0\.0 /)
    t.match(await talk.say('AUTH PLAIN x'), /^538 5\.7\.0 /)
    t.match(await talk.say('QUIT'), /^221 2\.0\.0 /)
    // RFC 3463 §3.5: 4.4.2 would be a connection that was lost.
    t.match(await (await plain()).say('GET / HTTP/1.1'), /^421 4\.7\.0 /)
    t.match(await (await plain()).say('x'.repeat(5_000)), /^421 4\.7\.0 /)
    const rows = () => store.read.selectFrom('submission_sessions').selectAll().execute()
    for (;;) {
      const told = (await rows()).filter(({ helo }) => helo === 'me.test')
      const record = told.find(({ verdict }) => verdict.startsWith('500 5.5.2 '))
      if (record === undefined) continue
      const replies = record.transcript?.split('\n').filter((line) => line.startsWith('S: '))
      const uncoded = replies?.filter((line) => !/^S: \d{3} [245]\.\d+\.\d+ /.test(line))
      t.match(uncoded, [/S: 220 /, /S: 250 .* SIZE/], 'the greeting, and what EHLO is told')
      break
    }
  },
)

t.test('fifty recipients are taken, and no more', async (t) => {
  const talk = await fresh()
  await talk.say('MAIL FROM:<ada@sender.test>')
  for (let i = 0; i < 50; i++) t.match(await talk.say(`RCPT TO:<r${i}@example.test>`), /^250/)
  t.match(await talk.say('RCPT TO:<r50@example.test>'), /^452 4\.5\.3/)
  t.match(await talk.say('DATA'), /^354/)
  t.match(await talk.say(`${head}\r\nx\r\n.`), /^250 2\.0\.0/)
})

t.test('what is larger than SIZE is read to the end and refused', async (t) => {
  const talk = await fresh()
  const line = `${'x'.repeat(98)}\r\n`
  t.match(await submit(talk, `${head}\r\n${line.repeat(166_000)}`), /^552 5\.3\.4/)
  t.match(await submit(talk, `${head}\r\nx`), /^250 2\.0\.0/, 'the session goes on')
})

t.test('none of the eleven smuggled endings ends a message', async (t) => {
  const endings = [
    '\n.\n',
    '\n.\r\n',
    '\r\n.\n',
    '\r.\r',
    '\r.\r\n',
    '\r\n.\r',
    '\r.\n',
    '\n.\r',
    '\r\n\0.\r\n',
    '\r\n.\0\r\n',
    '\r\n\r.\r\n',
  ]
  t.equal(endings.length, 11)
  const before = await posthorn.store.read.selectFrom('emails').select('id').execute()
  for (const ending of endings) {
    const talk = await fresh()
    const smuggled = `MAIL FROM:<eve@sender.test>\r\nRCPT TO:<v@example.test>\r\nDATA\r\n${head}\r\nsmuggled`
    const reply = await submit(talk, `${head}\r\nfirst${ending}${smuggled}`)
    t.match(reply, /^550 5\.6\.0 The message has a (bare|NUL)/, JSON.stringify(ending))
    t.match(await talk.say('NOOP'), /^250/)
    t.equal(talk.unread, '', 'nothing else was answered')
    talk.hangUp()
  }
  const after = await posthorn.store.read.selectFrom('emails').select('id').execute()
  t.equal(after.length, before.length)
})

t.test('10,000 recipients and endless commands end the session', async (t) => {
  const talk = await fresh()
  await talk.say('MAIL FROM:<ada@sender.test>')
  let reply = ''
  for (let i = 0; i < 10_000 && !/^421|^closed/.test(reply); i++) {
    reply = await talk.say(`RCPT TO:<r${i}@example.test>`)
  }
  t.match(reply, /^421 4\.7\.0 Too many/)
})

t.test('the account and its plan are asked as by the API', async (t) => {
  const talk = await fresh()
  const set = (values: object) =>
    store.write((tx) =>
      tx.updateTable('subscriptions').set(values).where('account_id', '=', accountId).execute(),
    )
  t.match(idOf(await submit(talk, `${head}\r\nx`)), /^[0-9a-f-]{36}$/)
  await set({ paused: 'bounce' })
  t.match(await submit(talk, `${head}\r\nx`), /^550 5\.7\.1 All sending is paused/)
  await set({ paused: null, suspended_reason: 'unpaid' })
  t.match(await submit(talk, `${head}\r\nx`), /^550 5\.7\.1 The account is suspended/)
})

t.test('a session may hand in one mail after the other', async (t) => {
  await store.write((tx) =>
    tx.updateTable('subscriptions').set({ paused: null, suspended_reason: null }).execute(),
  )
  const talk = await fresh()
  const replies: string[] = []
  for (let i = 0; i < 60; i++) replies.push((await submit(talk, `${head}\r\nx`)).slice(0, 9))
  t.same([...new Set(replies)], ['250 2.0.0'])
})
