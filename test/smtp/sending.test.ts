import t from 'tap'
import { finalDot, type SendResult, type SmtpConnectOptions } from '../../src/smtp/index.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { open, type Tester } from './open.js'

const message = [Buffer.from('Subject: hi\r\n\r\n'), Buffer.from('Hello\r\n')]
const envelope = { from: 'a@sender.test', to: 'b@example.test' }
const offers = ['PIPELINING', 'SIZE 20971520', '8BITMIME', 'SMTPUTF8', 'DSN']
const oneByOne = { capabilities: ['SIZE 20971520'] }

/** Sends one message to a receiver of that script. */
async function sendOne(
  t: Tester,
  script: MxScript,
  options: Partial<SmtpConnectOptions> = {},
  body = message,
): Promise<{ result: SendResult; mx: FakeMx; commands: string[]; transcript: string }> {
  const mx = await fakeMx(t, script)
  const connection = await open(t, mx, options)
  const result = await connection.send(envelope, body)
  const commands = mx.sessions[0]?.commands ?? []
  return { result, mx, commands, transcript: connection.transcript() }
}

t.test('a message arrives byte for byte', async (t) => {
  const mx = await fakeMx(t)
  const connection = await open(t, mx)
  const result = await connection.send(envelope, message)
  t.match(result, { kind: 'accepted', reusable: true, reply: { code: 250, enhanced: '2.0.0' } })
  t.match(mx.messages, [{ from: 'a@sender.test', to: ['b@example.test'], tls: false }])
  t.same(mx.messages[0]?.raw, Buffer.concat(message))
  t.equal(connection.sent, 1)
  t.equal(connection.alive, true)
})

t.test('dots, long messages and binary bodies arrive as they were', async (t) => {
  const mx = await fakeMx(t)
  const connection = await open(t, mx)
  const bodies = [
    Buffer.from('.\r\n..\r\n.a\r\n\r\n.\r\n'),
    Buffer.from('.x\r\nlines\r\n'.repeat(100_000)),
    Buffer.from(Array.from({ length: 1_000 }, (_, at) => (at * 7) % 256).filter(notNewline)),
  ]
  for (const body of bodies) {
    t.match(await connection.send(envelope, [body]), { kind: 'accepted', reusable: true })
  }
  const received = mx.messages.map(({ raw }) => raw)
  t.ok(received[0]?.equals(bodies[0] ?? Buffer.alloc(0)))
  t.ok(received[1]?.equals(bodies[1] ?? Buffer.alloc(0)))
  t.ok(received[2]?.equals(Buffer.concat([bodies[2] ?? Buffer.alloc(0), Buffer.from('\r\n')])))
})

t.test('the envelope is one write with PIPELINING, else one command at a time', async (t) => {
  for (const [capabilities, pipelining] of [
    [offers, true],
    [offers, false],
    [[], true],
  ] as const) {
    const chunks: string[] = []
    const onData = (chunk: Buffer) => chunks.push(String(chunk))
    const { result } = await sendOne(t, { capabilities, onData }, { pipelining })
    t.match(result, { kind: 'accepted', reusable: true })
    const verbs = chunks.map((chunk) => (chunk.match(/^[A-Z]{4}(?=[ \r])/gm) ?? []).join())
    const oneWrite = capabilities === offers && pipelining
    t.same(verbs, ['EHLO', ...(oneWrite ? ['MAIL,RCPT,DATA'] : ['MAIL', 'RCPT', 'DATA']), ''])
  }
})

t.test('a refused recipient leaves the session fit for the next message', async (t) => {
  for (const capabilities of [offers, []]) {
    for (const data of ['503 5.5.1 no recipient', '354 go']) {
      const mx = await fakeMx(t, {
        capabilities,
        data: capabilities === offers ? [data, '354 go'] : '354 go',
        rcpt: ['550 5.1.1 no such user', '250 ok'],
        dot: (text) => (text === '' ? '554 5.5.1 no recipients' : '250 ok'),
      })
      const connection = await open(t, mx)
      const result = await connection.send(envelope, message)
      t.match(result, {
        kind: 'refused',
        phase: 'rcpt',
        reusable: true,
        reply: { code: 550, enhanced: '5.1.1', text: '5.1.1 no such user' },
      })
      t.equal('local' in result, false)
      t.match(await connection.send(envelope, message), { kind: 'accepted' })
      t.equal(mx.messages.length, 1, 'no empty message is left')
      t.ok(mx.messages[0]?.raw.equals(Buffer.concat(message)))
      const loneDots = capabilities === offers && data === '354 go' ? 1 : 0
      t.same(
        mx.unaccepted.map(({ raw }) => raw.length),
        Array.from({ length: loneDots }, () => 0),
      )
    }
  }
})

t.test(
  'a receiver that never answers the empty message holds the outcome up but shortly',
  async (t) => {
    const mx = await fakeMx(t, {
      capabilities: offers,
      rcpt: '550 5.1.1 no such user',
      data: '354 go',
      dot: 'hang',
    })
    const connection = await open(t, mx, { deadlines: { emptyMs: 100 } })
    t.match(await connection.send(envelope, message), {
      kind: 'refused',
      phase: 'rcpt',
      reusable: false,
      reply: { code: 550 },
    })
  },
)

t.test('DATA let through for a refused sender but a good recipient is hung up on', async (t) => {
  const { result, mx } = await sendOne(t, { mail: '550 5.7.1 not you', data: '354 go' })
  t.match(result, { kind: 'refused', phase: 'mail', reusable: false })
  await mx.waitUntil(() => mx.sessions[0]?.closed === true)
  t.equal(mx.messages.length + mx.unaccepted.length, 0)
})

t.test('4yz defers and 5yz refuses, in every phase, and the session goes on', async (t) => {
  for (const capabilities of [offers, []]) {
    for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
      for (const [reply, kind] of [
        ['450 4.2.1 later', 'deferred'],
        ['550 5.7.1 never', 'refused'],
      ]) {
        const usual = { mail: '250 ok', rcpt: '250 ok', data: '354 go', dot: '250 ok' }
        const mx = await fakeMx(t, { capabilities, [phase]: [`${reply}`, usual[phase]] })
        if (phase === 'mail' && capabilities === offers) {
          mx.change({ rcpt: ['503 first MAIL', '250 ok'], data: ['503 first MAIL', '354 go'] })
        }
        const connection = await open(t, mx)
        const result = await connection.send(envelope, message)
        t.match(result, {
          kind,
          phase,
          reusable: true,
          reply: { code: kind === 'refused' ? 550 : 450 },
        })
        t.equal((await connection.send(envelope, message)).kind, 'accepted', `after ${phase}`)
        t.equal(mx.messages.length, 1)
      }
    }
  }
})

t.test('too many recipients is temporary, whichever code says so', async (t) => {
  for (const rcpt of ['452 4.5.3 too many', '552 too many recipients', '552 5.5.3 enough']) {
    t.match((await sendOne(t, { rcpt })).result, { kind: 'deferred', phase: 'rcpt' }, rcpt)
  }
  t.match((await sendOne(t, { rcpt: '552 5.2.2 mailbox full' })).result, { kind: 'refused' })
})

t.test('421 is temporary and ends the session, wherever it comes', async (t) => {
  for (const capabilities of [offers, []]) {
    for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
      const { result, mx } = await sendOne(t, { capabilities, [phase]: '421 4.7.0 enough' })
      t.match(result, { kind: 'deferred', phase, reusable: false, reply: { code: 421 } })
      await mx.waitUntil(() => mx.sessions[0]?.closed === true)
    }
  }
})

t.test('a session lost on the way says what the server may have', async (t) => {
  for (const capabilities of [offers, []]) {
    for (const act of ['drop', 'rst'] as const) {
      for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
        const { result } = await sendOne(t, { capabilities, [phase]: act })
        const ambiguous = phase === 'dot'
        t.match(result, { kind: 'lost', phase, ambiguous, offered: true }, `${act} at ${phase}`)
      }
    }
  }
})

t.test('every wait has its absolute deadline', async (t) => {
  const drip = { drip: '250-x\r\n', everyMs: 15, endless: true }
  for (const capabilities of [offers, []]) {
    for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
      for (const act of ['hang', drip] as const) {
        const began = performance.now()
        const deadlines = { [`${phase}Ms`]: 120 }
        const { result } = await sendOne(t, { capabilities, [phase]: act }, { deadlines })
        t.match(result, { kind: 'lost', phase, code: 'ETIMEDOUT', ambiguous: phase === 'dot' })
        t.ok(performance.now() - began < 5_000)
      }
    }
  }
})

t.test('a wait that is longer than those before it has all of its time', async (t) => {
  const deadlines = { mailMs: 150, rcptMs: 150, dataMs: 150, dotMs: 60_000 }
  const slow = { drip: '250 thanks\r\n', everyMs: 40 }
  const { result } = await sendOne(t, { capabilities: offers, dot: slow }, { deadlines })
  t.match(result, { kind: 'accepted', reply: { text: 'thanks' } })
})

t.test('a message that is written already goes as it is', async (t) => {
  const mx = await fakeMx(t)
  const connection = await open(t, mx)
  for (const lines of [1, 20_000]) {
    const raw = Buffer.from('Hello\r\n'.repeat(lines))
    const written = Buffer.concat([raw, finalDot])
    const sent = { written, sizeBytes: raw.length, eightBit: false }
    t.match(await connection.send(envelope, sent), { kind: 'accepted' })
    t.ok(mx.messages.at(-1)?.raw.equals(raw))
    t.match(
      mx.sessions[0]?.commands.filter((line) => line.startsWith('MAIL')).at(-1),
      `SIZE=${raw.length}`,
    )
  }
})

t.test('a receiver that stops reading is given up, block by block', async (t) => {
  const body = [Buffer.alloc(16_000_000, 'x')]
  const deadlines = { blockMs: 200 }
  const { result } = await sendOne(t, { deafToData: true }, { deadlines }, body)
  t.match(result, { kind: 'lost', phase: 'body', code: 'ETIMEDOUT', ambiguous: false })
})

t.test('a receiver that reads slower than the floor is given up', async (t) => {
  const mx = await fakeMx(t, { data: '354 go', slowBytesPerSecond: 4_000_000 })
  const limits = { minBytesPerSecond: 100_000_000 }
  const connection = await open(t, mx, { deadlines: { blockMs: 1_000 }, limits })
  const began = performance.now()
  const result = await connection.send(envelope, [Buffer.alloc(16_000_000, 'x')])
  t.match(result, { kind: 'lost', phase: 'body', code: 'ETIMEDOUT', ambiguous: false })
  t.ok(performance.now() - began < 5_000, 'though each block was in time')
})

t.test('a verdict in the middle of a long message is heard', async (t) => {
  const body = [Buffer.alloc(16_000_000, 'x')]
  for (const [act, expected] of [
    [{ last: '552 5.3.4 too big\r\n' }, { kind: 'refused', phase: 'body', reusable: false }],
    ['421 4.3.0 no', { kind: 'deferred', phase: 'body', reusable: false }],
    ['250 thanks', { kind: 'lost', phase: 'body', ambiguous: false }],
    ['rst', { kind: 'lost', phase: 'body', ambiguous: false, offered: true }],
  ] as const) {
    const midData = { afterBytes: 10_000, act }
    const { result, mx } = await sendOne(t, { midData }, {}, body)
    t.match(result, expected)
    t.equal(mx.messages.length, 0)
  }
})

t.test('a refusal of our own names what needs the extension', async (t) => {
  const mx = await fakeMx(t, { capabilities: ['PIPELINING'] })
  const connection = await open(t, mx)
  const envelope = { from: 'shop@example.test', to: 'a@example.test' }
  const pieces = (header: string, body: string) =>
    [header, '\r\n\r\n', body].map((text) => Buffer.from(text))
  const streamed = (message: Buffer[]) => ({
    sizeBytes: Buffer.concat(message).length,
    eightBit: true,
    async *read() {
      yield* message
    },
  })
  const plain = pieces('Subject: hello', 'hello')
  const subject = pieces('From: a\r\nSubject: hello\r\n Grüße\r\nX-Shop: ü', 'hello')
  const body = pieces('Subject: hello', 'Grüße')
  const [utf8, eight] = ['SMTPUTF8, which the', '8BITMIME, which the']
  const cases = [
    [{ to: 'jürgen@example.test' }, plain, `${utf8} address of the recipient needs`],
    [{ from: 'jürgen@example.test' }, plain, `${utf8} return path needs`],
    [{ smtpUtf8: true }, subject, `${utf8} header field Subject, X-Shop needs`],
    [{ smtpUtf8: true }, plain, `${utf8} message needs`],
    [{}, subject, `${eight} header field Subject, X-Shop needs`],
    [{}, body, `${eight} body of the message needs`],
    [{}, streamed(body), `${eight} body of the message needs`],
    [{}, streamed(subject), `${eight} header field Subject, X-Shop needs`],
  ] as const
  for (const [changes, message, words] of cases) {
    const result = await connection.send({ ...envelope, ...changes }, message)
    const text = `posthorn: the server does not offer ${words}`
    t.match(result, { kind: 'refused', local: true, reusable: true, reply: { text } })
  }
  t.same(mx.sessions[0]?.commands.length, 1, 'the server was asked nothing')
})

t.test('replies that nobody asked for end the session, and only that', async (t) => {
  const early = await sendOne(t, { ...oneByOne, mail: { raw: '250 ok\r\n250 ok\r\n' } })
  t.match(early.result, { kind: 'lost', phase: 'rcpt', ambiguous: false, cause: /unsolicited/ })
  const goAhead = { raw: '354 go\r\n250 got it\r\n' }
  const tooSoon = await sendOne(t, { data: goAhead })
  t.match(tooSoon.result, { kind: 'lost', phase: 'body', ambiguous: false, cause: /unsolicited/ })
  const late = await sendOne(t, { dot: { raw: '250 ok\r\n250 ok\r\n' } })
  t.match(late.result, { kind: 'accepted', reusable: false }, 'accepted is accepted')
})

t.test('replies that make no sense are lost sessions, not verdicts', async (t) => {
  for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
    for (const reply of [phase === 'data' ? '250 ok' : '354 go', 'nonsense', '250-a\r\n550 b']) {
      const { result, mx } = await sendOne(t, { [phase]: { raw: `${reply}\r\n` } })
      t.match(result, { kind: 'lost', phase, ambiguous: phase === 'dot' }, `${reply} to ${phase}`)
      await mx.waitUntil(() => mx.sessions[0]?.closed === true)
    }
  }
})

t.test('verdicts that come bit by bit over several connections are not mixed up', async (t) => {
  const names = ['anna', 'bert', 'cleo', 'dora']
  const verdicts = await Promise.all(
    names.map(async (name) => {
      const dot = { drip: `250 2.0.0 taken by ${name}\r\n`, everyMs: 2 }
      return (await sendOne(t, { dot })).result
    }),
  )
  t.match(
    verdicts,
    names.map((name) => ({ kind: 'accepted', reply: { text: `2.0.0 taken by ${name}` } })),
  )
})

t.test('a failed RSET costs the next message nothing', async (t) => {
  for (const rset of ['drop', 'hang', '550 no', '421 bye', 'nonsense'] as const) {
    const mx = await fakeMx(t, { rset, rcpt: ['550 no', '250 ok'], data: '503 no' })
    const connection = await open(t, mx, { deadlines: { resetMs: 100 } })
    t.match(await connection.send(envelope, message), { kind: 'refused' })
    const next = await connection.send(envelope, message)
    t.match(next, { kind: 'lost', offered: false, ambiguous: false }, rset)
    t.equal(connection.sent, 1)
  }
})

t.test('an idle session that the server ends is noticed', async (t) => {
  for (const [act, cause] of [
    [{ last: '421 4.4.2 idle too long\r\n' }, /closed the idle session/],
    ['drop', /server closed/],
    ['rst', /ECONNRESET/],
    ['250 hello?', /unsolicited/],
    [{ raw: 'x' }, /unsolicited/],
  ] as const) {
    const mx = await fakeMx(t)
    const connection = await open(t, mx)
    t.equal((await connection.send(envelope, message)).kind, 'accepted')
    await mx.interject(act)
    await connection.closed
    t.equal(connection.alive, false)
    const result = await connection.send(envelope, message)
    t.match(result, { kind: 'lost', phase: 'idle', cause, offered: false, ambiguous: false })
  }
})

t.test('what the server has declined in EHLO is refused without asking it', async (t) => {
  const mx = await fakeMx(t, { capabilities: ['PIPELINING', 'SIZE 100'] })
  const connection = await open(t, mx)
  const local = { kind: 'refused', local: true, reusable: true }
  const size = await connection.send(envelope, [Buffer.alloc(101, 'x')])
  t.match(size, { ...local, reply: { code: 552, enhanced: '5.3.4', text: /posthorn/ } })
  const utf8 = { reply: { code: 553, enhanced: '5.6.7', text: /SMTPUTF8/ } }
  t.match(await connection.send({ from: '', to: 'jos\u00e9@example.test' }, []), {
    ...local,
    ...utf8,
  })
  t.match(await connection.send({ ...envelope, smtpUtf8: true }, []), { ...local, ...utf8 })
  const eightBit = await connection.send(envelope, [Buffer.from('caf\u00e9')])
  t.match(eightBit, { ...local, reply: { code: 554, enhanced: '5.6.3', text: /8BITMIME/ } })
  t.same(mx.sessions[0]?.commands, ['EHLO client.example.test'])
  t.equal(connection.sent, 0)
  t.equal((await connection.send(envelope, [Buffer.alloc(100, 'x')])).kind, 'accepted')
})

t.test('what the server offers is used, and only when needed', async (t) => {
  const mx = await fakeMx(t)
  const connection = await open(t, mx)
  await connection.send(envelope, [Buffer.from('x')])
  await connection.send({ from: '', to: 'jos\u00e9@example.test' }, [Buffer.from('caf\u00e9')])
  const dsn = { returns: 'headers', envelopeId: 'a+b=c d', notify: ['failure', 'delay'] } as const
  await connection.send({ ...envelope, dsn }, [Buffer.from('x')])
  const to = { ...dsn, originalRecipient: 'a+b=c@example.test' }
  await connection.send({ ...envelope, dsn: to }, [Buffer.from('x')])
  const notAscii = { ...dsn, originalRecipient: 'jos\u00e9@example.test' }
  await connection.send({ ...envelope, dsn: notAscii }, [Buffer.from('x')])
  t.same(
    mx.sessions[0]?.commands.filter((line) => /^MAIL|^RCPT/.test(line)),
    [
      'MAIL FROM:<a@sender.test> SIZE=1',
      'RCPT TO:<b@example.test>',
      'MAIL FROM:<> SIZE=5 BODY=8BITMIME SMTPUTF8',
      'RCPT TO:<jos\u00e9@example.test>',
      'MAIL FROM:<a@sender.test> SIZE=1 RET=HDRS ENVID=a+2Bb+3Dc+20d',
      'RCPT TO:<b@example.test> NOTIFY=FAILURE,DELAY',
      'MAIL FROM:<a@sender.test> SIZE=1 RET=HDRS ENVID=a+2Bb+3Dc+20d',
      'RCPT TO:<b@example.test> NOTIFY=FAILURE,DELAY ORCPT=rfc822;a+2Bb+3Dc@example.test',
      'MAIL FROM:<a@sender.test> SIZE=1 RET=HDRS ENVID=a+2Bb+3Dc+20d',
      'RCPT TO:<b@example.test> NOTIFY=FAILURE,DELAY',
    ],
  )
  const plain = await sendOne(t, { capabilities: [] })
  t.same(plain.commands.slice(1, 3), ['MAIL FROM:<a@sender.test>', 'RCPT TO:<b@example.test>'])
})

t.test('an address or a message that could become a command never leaves', async (t) => {
  const mx = await fakeMx(t)
  const connection = await open(t, mx)
  const addresses = [
    'a@x\r\nRCPT TO:<c@x>',
    'a\n@x',
    'a\r@x',
    'a\0@x',
    '"a\r\nb"@x',
    'a@x> SIZE=1',
    'a b@x',
    '<a@x>',
    'a',
    '@x',
    'a@',
    'a@b@x',
    'a@x\u0007',
    '"a@x',
    'a"b"@x',
    'a@x y',
  ]
  for (const address of addresses) {
    await t.rejects(connection.send({ from: '', to: address }, message), /Not fit/, address)
    await t.rejects(connection.send({ from: address, to: 'b@x' }, message), /Not fit/, address)
  }
  await t.rejects(connection.send({ from: '', to: '' }, message), /Not fit/)
  await t.rejects(connection.send(envelope, [Buffer.from('a\r\n.\nb')]), /Bare/)
  t.same(mx.sessions[0]?.commands, ['EHLO client.example.test'])
  for (const to of ['"a b\\"<>"@x', "o'neil+tag@x", 'a@[192.0.2.1]', 'user%host!y@x']) {
    t.equal((await connection.send({ from: '', to }, message)).kind, 'accepted', to)
    t.equal(mx.messages.at(-1)?.to[0], to)
  }
})

t.test('messages sent without waiting arrive in order, each envelope behind a body', async (t) => {
  for (const capabilities of [offers, []]) {
    const mx = await fakeMx(t, {
      capabilities,
      dot: (text) => (text === '3\r\n' ? '450 no' : '250 ok'),
    })
    const connection = await open(t, mx)
    const sends = Array.from({ length: 20 }, (_, at) =>
      connection.send({ from: '', to: `${at}@example.test` }, [Buffer.from(`${at}\r\n`)]),
    )
    const results = await Promise.all(sends)
    t.same(
      results.map(({ kind }) => kind),
      results.map((_, at) => (at === 3 ? 'deferred' : 'accepted')),
    )
    t.same(
      mx.messages.map(({ to, raw }) => [to[0], String(raw)]),
      results.map((_, at) => [`${at}@example.test`, `${at}\r\n`]).filter((_, at) => at !== 3),
    )
    t.equal(connection.sent, 20)
  }
})

t.test('a chained envelope really travels with the body before it', async (t) => {
  const chunks: string[] = []
  const mx = await fakeMx(t, { onData: (chunk) => chunks.push(String(chunk)) })
  const connection = await open(t, mx)
  await Promise.all([connection.send(envelope, message), connection.send(envelope, message)])
  t.match(chunks.at(-2), /Hello\r\n\.\r\nMAIL FROM:<a@sender\.test>.*\r\nRCPT.*\r\nDATA\r\n$/)
  t.equal(chunks.length, 4, 'EHLO, an envelope, a body with an envelope, a body')
})

t.test('a refusal in a chain touches neither neighbour', async (t) => {
  const mx = await fakeMx(t, {
    rcpt: (to) => (to.startsWith('bad') ? '550 5.1.1 no' : '250 ok'),
  })
  const connection = await open(t, mx)
  const results = await Promise.all(
    ['a', 'bad1', 'b', 'bad2', 'bad3', 'c'].map((name) =>
      connection.send({ from: '', to: `${name}@example.test` }, [Buffer.from(name)]),
    ),
  )
  t.same(
    results.map(({ kind }) => kind),
    ['accepted', 'refused', 'accepted', 'refused', 'refused', 'accepted'],
  )
  t.same(
    mx.messages.map(({ raw }) => String(raw)),
    ['a\r\n', 'b\r\n', 'c\r\n'],
  )
})

t.test('a session lost in a chain tells the offered from the others', async (t) => {
  const mx = await fakeMx(t, { dot: 'drop' })
  const connection = await open(t, mx)
  const results = await Promise.all([1, 2, 3].map(() => connection.send(envelope, message)))
  t.match(results, [
    { kind: 'lost', phase: 'dot', ambiguous: true, offered: true },
    { kind: 'lost', ambiguous: false, offered: true },
    { kind: 'lost', ambiguous: false, offered: false },
  ])
})

t.test('QUIT is said and not waited for', async (t) => {
  for (const quit of [{ last: '221 bye\r\n' }, 'hang', 'drop', 'rst', '500 no'] as const) {
    const mx = await fakeMx(t, { quit })
    const connection = await open(t, mx, { deadlines: { quitMs: 100 } })
    connection.quit()
    await connection.closed
    t.equal(connection.alive, false)
    t.match(await connection.send(envelope, message), { kind: 'lost', offered: false })
    await mx.waitUntil(() => mx.sessions[0]?.closed === true)
    t.equal(mx.sessions[0]?.commands.at(-1), 'QUIT')
  }
})

t.test('a message under way is lost when we hang up', async (t) => {
  for (const hangUp of ['quit', 'destroy'] as const) {
    const mx = await fakeMx(t, { dot: 'hang' })
    const connection = await open(t, mx)
    const sending = connection.send(envelope, message)
    await mx.waitUntil(() => mx.unaccepted.length === 1)
    connection[hangUp]()
    t.match(await sending, { kind: 'lost', phase: 'dot', ambiguous: true, offered: true })
  }
})

t.test('the transcript tells the last attempt, without the message', async (t) => {
  const mx = await fakeMx(t, {
    rcpt: ['250 ok', '550 5.1.1 no such user'],
    data: ['354 go', '503'],
  })
  const connection = await open(t, mx)
  await connection.send({ from: '', to: 'first@example.test' }, [Buffer.from('secret text')])
  t.match(connection.transcript(), /11 bytes of message/)
  t.notMatch(connection.transcript(), /secret/)
  await connection.send(envelope, message)
  const said = connection.transcript().replace(/^\d+ /gm, '')
  t.same(said.split('\n'), [
    'S: 220 fake.example.test ESMTP',
    'C: EHLO client.example.test',
    'S: 250-fake.example.test',
    ...['PIPELINING', 'SIZE 20971520', '8BITMIME', 'SMTPUTF8'].map((line) => `S: 250-${line}`),
    'S: 250 DSN',
    'C: MAIL FROM:<a@sender.test> SIZE=22',
    'C: RCPT TO:<b@example.test>',
    'C: DATA',
    'S: 250 2.1.0 sender ok',
    'S: 550 5.1.1 no such user',
    'S: 503 ',
    'C: RSET',
  ])
})

t.test('a thousand sessions at once are no trouble', async (t) => {
  const mx = await fakeMx(t)
  const connections = await Promise.all(Array.from({ length: 1_000 }, () => open(t, mx)))
  const results = await Promise.all(connections.map((one) => one.send(envelope, message)))
  t.ok(results.every(({ kind }) => kind === 'accepted'))
  t.equal(mx.messages.length, 1_000)
})

function notNewline(byte: number): boolean {
  return byte !== 10 && byte !== 13
}
