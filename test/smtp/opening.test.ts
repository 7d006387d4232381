import t from 'tap'
import {
  type ConnectFailure,
  connectSmtp,
  type Phase,
  type SmtpConnectOptions,
} from '../../src/smtp/index.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { testCertificates } from '../support/tls.js'
import { open, type Tester, towards } from './open.js'

const certificates = await testCertificates(t)
const { ca, valid, expired, wrongName, selfSigned } = certificates

/** Tries to open a session that must fail. */
async function failure(
  t: Tester,
  script: MxScript,
  options: Partial<SmtpConnectOptions> = {},
): Promise<ConnectFailure & { mx: FakeMx; tookMs: number }> {
  const mx = await fakeMx(t, script)
  const began = performance.now()
  const result = await connectSmtp(towards(mx, options))
  if (result.kind === 'ready') throw new Error('The session was to fail')
  return { ...result, mx, tookMs: performance.now() - began }
}

t.test('the session opens with what the server offers', async (t) => {
  const mx = await fakeMx(t)
  const { capabilities, tls } = await open(t, mx)
  t.match(capabilities, {
    pipelining: true,
    eightBitMime: true,
    smtpUtf8: true,
    dsn: true,
    startTls: false,
    size: 20_971_520,
  })
  t.equal(tls, undefined)
  t.same(mx.sessions[0]?.commands, ['EHLO client.example.test'])
})

t.test('a server that knows no EHLO is greeted with HELO', async (t) => {
  const mx = await fakeMx(t, { ehlo: '502 5.5.1 what' })
  const connection = await open(t, mx)
  t.equal(connection.capabilities.pipelining, false)
  const result = await connection.send({ from: '', to: 'b@example.test' }, [Buffer.from('x')])
  t.equal(result.kind, 'accepted')
  t.same(mx.sessions[0]?.commands, [
    'EHLO client.example.test',
    'HELO client.example.test',
    'MAIL FROM:<>',
    'RCPT TO:<b@example.test>',
    'DATA',
  ])
})

t.test('a refusal says whether it is for good', async (t) => {
  const rows: [MxScript, object][] = [
    [{ banner: '554 5.7.1 listed' }, { phase: 'banner', transient: false }],
    [{ banner: '450 busy' }, { phase: 'banner', transient: true }],
    [{ banner: '421 4.3.2 later' }, { phase: 'banner', transient: true, reply: { code: 421 } }],
    [{ ehlo: '450 later' }, { phase: 'ehlo', transient: true }],
    [{ ehlo: '421 later' }, { phase: 'ehlo', transient: true }],
    [
      { ehlo: '550 no', helo: '550 5.7.1 no' },
      { phase: 'ehlo', transient: false },
    ],
  ]
  for (const [script, expected] of rows) {
    const result = await failure(t, script)
    t.match(result, expected, JSON.stringify(script))
    t.type(result.reply?.code, 'number')
    t.equal(result.tlsFailed, undefined)
  }
})

t.test('a connection that is refused, dropped or reset fails as transient', async (t) => {
  const mx = await fakeMx(t)
  const gone = await connectSmtp(towards({ host: '127.0.0.1', port: await closedPort(t) }))
  t.match(gone, { kind: 'failed', phase: 'connect', code: 'ECONNREFUSED', transient: true })
  const foreign = await connectSmtp(towards(mx, { localAddress: '192.0.2.1' }))
  t.match(foreign, { kind: 'failed', phase: 'connect', code: 'EADDRNOTAVAIL', transient: true })
  t.match(await failure(t, { banner: 'drop' }), { phase: 'banner', transient: true })
  t.match(await failure(t, { ehlo: 'rst' }), { phase: 'ehlo', code: 'ECONNRESET' })
  t.match(await failure(t, { ehlo: 'drop' }), { phase: 'ehlo', transient: true })
})

t.test('the local address is the one asked for', async (t) => {
  const mx = await fakeMx(t)
  await open(t, mx, { localAddress: '127.0.0.9' })
  t.equal(mx.sessions[0]?.remoteAddress, '127.0.0.9')
})

t.test('options that are wrong in themselves throw', async (t) => {
  const mx = await fakeMx(t)
  await t.rejects(connectSmtp(towards({ host: 'mx.example.test', port: 25 })), /Not an IP/)
  for (const heloName of ['', 'a\r\nMAIL FROM:<x@x>', 'a b']) {
    await t.rejects(connectSmtp(towards(mx, { heloName })), /Not a name for EHLO/)
  }
  t.equal(mx.sessions.length, 0)
})

t.test('a deadline is absolute, whatever drips in', async (t) => {
  const drip = { drip: '220-x\r\n', everyMs: 20, endless: true }
  const rows: [MxScript, Partial<SmtpConnectOptions>, Phase][] = [
    [{ banner: 'hang' }, {}, 'banner'],
    [{ banner: drip }, {}, 'banner'],
    [{ ehlo: 'hang' }, {}, 'ehlo'],
    [{ ehlo: { ...drip, drip: '250-x\r\n' } }, {}, 'ehlo'],
    [{ startTls: 'hang', tls: valid }, { tls: { mode: 'opportunistic' } }, 'starttls'],
    [{ banner: 'hang', tls: valid }, { implicitTls: true }, 'starttls'],
  ]
  for (const [script, options, phase] of rows) {
    const deadlines = { [phase === 'starttls' ? 'startTlsMs' : `${phase}Ms`]: 150 }
    const result = await failure(t, script, { ...options, deadlines })
    t.match(result, { phase, code: 'ETIMEDOUT', transient: true }, `${phase}: ${result.cause}`)
    t.ok(result.tookMs > 140 && result.tookMs < 5_000, `${result.tookMs} ms`)
  }
})

t.test('floods and nonsense end the session', async (t) => {
  const rows: [MxScript, RegExp][] = [
    [{ banner: { flood: 'x'.repeat(100) } }, /line too long/],
    [{ banner: { flood: '220-x\r\n' } }, /too many reply lines/],
    [{ ehlo: { flood: `250-${'x'.repeat(1_000)}\r\n` } }, /reply too long/],
    [{ banner: 'SSH-2.0-OpenSSH' }, /malformed/],
    [{ ehlo: '250-a\r\n550 b' }, /disagree/],
    [{ banner: { raw: '220 hi\r\n220 hi again\r\n' } }, /unsolicited reply/],
    [{ banner: { raw: '220 hi\r\n2' } }, /unsolicited bytes/],
    [{ ehlo: { raw: '250 hi\r\n250 sender ok\r\n' } }, /unsolicited reply/],
  ]
  for (const [script, cause] of rows) {
    // Unsolicited bytes are found before the first message at the latest.
    const mx = await fakeMx(t, script)
    const result = await connectSmtp(towards(mx))
    if (result.kind === 'failed') t.match(result, { cause, transient: true })
    else {
      const lost = await result.connection.send({ from: '', to: 'b@example.test' }, [])
      t.match(lost, { kind: 'lost', cause, offered: false, ambiguous: false })
    }
    await mx.waitUntil(() => mx.sessions[0]?.closed === true)
  }
})

t.test('connecting can be given up', async (t) => {
  const mx = await fakeMx(t, { ehlo: 'hang' })
  const controller = new AbortController()
  const opening = connectSmtp(towards(mx, { signal: controller.signal }))
  await mx.waitUntil(() => mx.sessions[0]?.commands.length === 1)
  controller.abort()
  t.match(await opening, { kind: 'failed', phase: 'ehlo', code: 'ABORT_ERR', transient: true })
  const late = await connectSmtp(towards(mx, { signal: controller.signal }))
  t.match(late, { kind: 'failed', phase: 'connect', code: 'ABORT_ERR' })
})

t.test('STARTTLS is followed by a fresh EHLO and hides the message', async (t) => {
  const mx = await fakeMx(t, { tls: valid })
  const connection = await open(t, mx, { tls: { mode: 'opportunistic' } })
  t.match(connection.tls, { version: 'TLSv1.3', authorized: false, cipher: /AES|CHACHA/ })
  t.equal(connection.capabilities.startTls, false, 'what was offered in the clear is forgotten')
  await connection.send({ from: '', to: 'b@example.test' }, [Buffer.from('x')])
  t.match(mx.messages, [{ tls: true }])
  t.same(mx.sessions[0]?.commands.slice(0, 3), [
    'EHLO client.example.test',
    'STARTTLS',
    'EHLO client.example.test',
  ])
})

t.test('a certificate is checked for name, age and issuer when it must be', async (t) => {
  const servername = 'mx.example.test'
  const verify = { mode: 'require', verify: true, ca: ca.cert } as const
  const mx = await fakeMx(t, { tls: valid })
  const connection = await open(t, mx, { servername: `${servername}.`, tls: verify })
  t.match(connection.tls, { authorized: true })
  t.equal(mx.sessions[0]?.servername, servername, 'SNI')
  t.match((await open(t, mx, { tls: verify })).tls, { authorized: true }, 'for the address itself')

  for (const [tls, why] of [
    [expired, /CERT_HAS_EXPIRED/],
    [wrongName, /ALTNAME/],
    [selfSigned, /SELF_SIGNED/],
  ] as const) {
    const result = await failure(t, { tls }, { servername, tls: verify })
    t.match(result, { phase: 'starttls', cause: why, transient: true, tlsFailed: true })
    t.notMatch(result.mx.sessions[0]?.commands.join(), /MAIL/)

    const lenient = await open(t, await fakeMx(t, { tls }), {
      servername,
      tls: { mode: 'opportunistic', ca: ca.cert },
    })
    t.match(lenient.tls, { authorized: false, authorizationError: why }, 'known, but no obstacle')
  }
})

t.test('without good TLS there is no session where it is required', async (t) => {
  const tls = { mode: 'require' } as const
  const rows: [MxScript, RegExp][] = [
    [{}, /does not offer STARTTLS/],
    [{ ehlo: '502 what' }, /does not offer STARTTLS/],
    [{ tls: valid, startTls: '454 4.7.0 not now' }, /454/],
    [{ tls: valid, startTls: '502 never' }, /502/],
    [{ tls: valid, startTls: 'drop' }, /closed/],
    [{ tls: valid, startTls: { raw: '220 go\r\nthis is no handshake\r\n' } }, /./],
  ]
  for (const [script, cause] of rows) {
    const result = await failure(t, script, { tls })
    t.match(result, { phase: 'starttls', cause, transient: true, tlsFailed: true })
  }
})

t.test('opportunistic TLS goes on in the clear when STARTTLS is refused', async (t) => {
  const mx = await fakeMx(t, { tls: valid, startTls: '454 4.7.0 not now' })
  const connection = await open(t, mx, { tls: { mode: 'opportunistic' } })
  t.equal(connection.tls, undefined)
  const result = await connection.send({ from: '', to: 'b@example.test' }, [])
  t.equal(result.kind, 'accepted')
})

t.test('a handshake that fails says so, for the caller to try in the clear', async (t) => {
  const mx = await fakeMx(t, { capabilities: ['STARTTLS'], tls: { cert: '', key: '' } })
  const result = await connectSmtp(towards(mx, { tls: { mode: 'opportunistic' } }))
  t.match(result, { kind: 'failed', phase: 'starttls', transient: true, tlsFailed: true })
  const again = await open(t, mx, { tls: { mode: 'off' } })
  t.equal(again.tls, undefined)
})

t.test('421 to STARTTLS is not held against TLS', async (t) => {
  const script = { tls: valid, startTls: '421 4.3.2 shutting down' }
  const result = await failure(t, script, { tls: { mode: 'opportunistic' } })
  t.match(result, { phase: 'starttls', transient: true, reply: { code: 421 } })
  t.equal(result.tlsFailed, undefined)
})

t.test('a plaintext reply smuggled behind the 220 to STARTTLS ends the session', async (t) => {
  for (const extra of ['250 injected\r\n', '250-in', '\r\n']) {
    const script = { tls: valid, startTls: { raw: `220 go\r\n${extra}` } }
    const result = await failure(t, script, { tls: { mode: 'opportunistic' } })
    t.match(result, { phase: 'starttls', transient: true, tlsFailed: true }, result.cause)
    t.match(result.cause, /unsolicited|malformed/)
    t.notMatch(result.mx.sessions[0]?.commands.join(), /EHLO.*EHLO/)
  }
})

t.test('TLS can come before the banner', async (t) => {
  const mx = await fakeMx(t, { tls: valid, implicitTls: true })
  const tls = { mode: 'require', verify: true, ca: ca.cert } as const
  const connection = await open(t, mx, { implicitTls: true, servername: 'mx.example.test', tls })
  t.match(connection.tls, { authorized: true })
  t.same(mx.sessions[0]?.commands, ['EHLO client.example.test'])
})

t.test('credentials go over TLS only, in the way that the server knows', async (t) => {
  const auth = { user: 'posthorn', pass: 'tr0ub4dor' }
  const plain = Buffer.from('\0posthorn\0tr0ub4dor').toString('base64')
  const tls = { mode: 'require' } as const

  const mx = await fakeMx(t, { tls: valid, capabilities: ['AUTH LOGIN PLAIN'] })
  const connection = await open(t, mx, { tls, auth })
  t.equal(mx.sessions[0]?.commands.at(-1), `AUTH PLAIN ${plain}`)
  t.match(connection.transcript(), /AUTH PLAIN \(credentials\)/)
  t.notMatch(connection.transcript(), plain)

  const asks = ['334 VXNlcm5hbWU6', '334 UGFzc3dvcmQ6', '235 2.7.0 in']
  const old = await fakeMx(t, { tls: valid, capabilities: ['AUTH=LOGIN'], auth: asks })
  const oldConnection = await open(t, old, { tls, auth })
  t.same(old.sessions[0]?.commands.slice(-3), ['AUTH LOGIN', 'cG9zdGhvcm4=', 'dHIwdWI0ZG9y'])
  t.notMatch(oldConnection.transcript(), /cG9zdGhvcm4=|dHIwdWI0ZG9y/)

  const inClear = await failure(t, { capabilities: ['AUTH PLAIN'] }, { auth })
  t.match(inClear, { phase: 'auth', transient: false, cause: /over TLS only/ })
  t.notMatch(inClear.mx.sessions[0]?.commands.join(), /AUTH/)
  const allowed = await fakeMx(t, { capabilities: ['AUTH PLAIN'] })
  t.ok(await open(t, allowed, { auth: { ...auth, allowPlaintext: true } }))

  const rows: [MxScript, object][] = [
    [{ capabilities: ['AUTH PLAIN'], auth: '535 5.7.8 no' }, { transient: false }],
    [{ capabilities: ['AUTH PLAIN'], auth: '454 4.7.0 later' }, { transient: true }],
    [{ capabilities: ['AUTH LOGIN'], auth: '235 already' }, { transient: true }],
    [{ capabilities: ['AUTH CRAM-MD5'] }, { transient: false, cause: /neither/ }],
  ]
  for (const [script, expected] of rows) {
    const result = await failure(t, { tls: valid, ...script }, { tls, auth })
    t.match(result, { phase: 'auth', ...expected })
    t.notMatch(result.transcript, plain)
  }
})

t.test(
  'a server that quotes the credentials does not bring them into reply or transcript',
  async (t) => {
    const auth = { user: 'posthorn', pass: 'Tr0ub+4dor' }
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const plain = base64('\0posthorn\0Tr0ub+4dor')
    const tls = { mode: 'require' } as const
    const rows: [string, string][] = [
      [`rejected ${plain}`, 'rejected (credentials)'],
      [`line=${plain.replaceAll('=', '')}.`, 'line=(credentials).'],
      ['i.e. posthorn tr0UB+4dor!', 'i.e. posthorn (credentials)!'],
      [`<${base64('Tr0ub+4dor')}>`, '<(credentials)>'],
      [`login ${base64('posthorn:Tr0ub+4dor')} no`, 'login (credentials) no'],
      [`cut ${plain.slice(0, 15)}... off`, 'cut (credentials)... off'],
      ['queued as Tm90aGluZyBoZXJl for posthorn', 'queued as Tm90aGluZyBoZXJl for posthorn'],
    ]
    for (const [said, shown] of rows) {
      const script = { tls: valid, capabilities: ['AUTH PLAIN'] }
      const result = await failure(
        t,
        { ...script, auth: `535-5.7.8 ${said}\r\n535 5.7.8 ${said}` },
        { tls, auth },
      )
      t.match(result.reply, { enhanced: '5.7.8', text: `5.7.8 ${shown}\n5.7.8 ${shown}` })
      t.equal(result.cause, `535 5.7.8 ${shown}\n5.7.8 ${shown}`)
      t.match(result.transcript, `S: 535 5.7.8 ${shown}`)
      t.equal(result.transcript.includes(said), said === shown)
    }
    const late = await fakeMx(t, { tls: valid, capabilities: ['AUTH PLAIN'], mail: `550 ${plain}` })
    const connection = await open(t, late, { tls, auth })
    const result = await connection.send({ from: '', to: 'b@example.test' }, [])
    t.match(result, { reply: { text: '(credentials)' } }, 'nor later in the session')
  },
)

t.test('a failure brings what was said, bounded and without control characters', async (t) => {
  const result = await failure(t, { banner: '554-5.7.1 \u001b[2Jno\r\n554 5.7.1 really' })
  t.match(result.transcript, /^\d+ S: 554-5\.7\.1 \?\[2Jno\n\d+ S: 554 5\.7\.1 really\n/)
  const long = await failure(
    t,
    { ehlo: `451-${'x'.repeat(900)}\r\n451 y` },
    { limits: { transcriptBytes: 500 } },
  )
  t.match(long.transcript, /^\(earlier lines left out\)\n/)
  t.ok(long.transcript.length < 1_500)
})

/** A port on which nothing listens. */
async function closedPort(t: Tester): Promise<number> {
  const ended: (() => unknown)[] = []
  const { port } = await fakeMx({ teardown: (stop) => ended.push(stop) })
  for (const stop of ended) await stop()
  t.teardown(() => {})
  return port
}
