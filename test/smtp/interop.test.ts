import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import t from 'tap'
import { freePort } from '../support/free-port.js'
import { testCertificates } from '../support/tls.js'
import { open, type Tester } from './open.js'

const smtpSink = '/usr/sbin/smtp-sink'
const certificates = await testCertificates(t)

interface Received {
  to: string[]
  raw: Buffer
  secure: boolean
}

/** The smtp-server package, taking everything for `example.test`. */
async function smtpServer(t: Tester, options: SMTPServerOptions = {}) {
  const messages: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH'],
    hideENHANCEDSTATUSCODES: false,
    closeTimeout: 100,
    onRcptTo: ({ address }, _session, done) => {
      const known = address.endsWith('@example.test')
      done(known ? null : Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }))
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        messages.push({ to, raw: Buffer.concat(chunks), secure: session.secure })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {}) // what a client does to it is that client's test's concern
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)))
  return { host: '127.0.0.1', port: (listener.address() as AddressInfo).port, messages }
}

t.test('smtp-server takes our messages over TLS, chained and refused ones too', async (t) => {
  const { cert, key } = certificates.valid
  const server = await smtpServer(t, { cert, key })
  const connection = await open(t, server, {
    servername: 'mx.example.test',
    tls: { mode: 'require', verify: true, ca: certificates.ca.cert },
  })
  t.match(connection.capabilities, { pipelining: true, eightBitMime: true, smtpUtf8: true })
  t.match(connection.tls, { authorized: true })
  const bodies = ['plain\r\n', '.\r\n..\r\n', 'caf\u00e9\r\n', `${'long '.repeat(50_000)}\r\n`]
  const results = await Promise.all(
    bodies.flatMap((body) => [
      connection.send({ from: '', to: 'a@example.test' }, [Buffer.from(body)]),
      connection.send({ from: '', to: 'a@elsewhere.test' }, [Buffer.from(body)]),
    ]),
  )
  t.same(
    results.map(({ kind }) => kind),
    bodies.flatMap(() => ['accepted', 'refused']),
  )
  t.match(results[1], { reply: { code: 550, enhanced: '5.1.1' }, reusable: true })
  t.same(
    server.messages.map(({ raw }) => raw.toString()),
    bodies,
  )
  t.ok(server.messages.every(({ secure }) => secure))
})

t.test('smtp-server lets us in with PLAIN and with LOGIN', async (t) => {
  const { cert, key } = certificates.valid
  for (const method of ['PLAIN', 'LOGIN']) {
    const server = await smtpServer(t, {
      cert,
      key,
      authOptional: false,
      disabledCommands: [],
      authMethods: [method],
      onAuth: ({ username, password }, _session, done) =>
        done(null, username === 'ann' && password === 'p\u00e4ss' ? { user: 'ann' } : {}),
    })
    const tls = { mode: 'require' } as const
    const connection = await open(t, server, { tls, auth: { user: 'ann', pass: 'p\u00e4ss' } })
    const result = await connection.send({ from: '', to: 'a@example.test' }, [Buffer.from('x')])
    t.equal(result.kind, 'accepted', method)
    const wrong = { user: 'ann', pass: 'wrong' }
    await t.rejects(open(t, server, { tls, auth: wrong }), /535/)
  }
})

t.test('smtp-server finds no message smuggled into ours', async (t) => {
  const server = await smtpServer(t)
  const connection = await open(t, server)
  const smuggled = 'a\r\n.\r\nMAIL FROM:<e@x>\r\nRCPT TO:<e@example.test>\r\nDATA\r\nevil\r\n.\r\n'
  const result = await connection.send({ from: '', to: 'a@example.test' }, [Buffer.from(smuggled)])
  t.match(result, { kind: 'accepted', reusable: true })
  t.match(server.messages, [{ to: ['a@example.test'] }])
  t.equal(server.messages.length, 1)
  t.equal(String(server.messages[0]?.raw), smuggled)
})

t.test('Postfix takes a chain of messages', { skip: !existsSync(smtpSink) }, async (t) => {
  const port = await freePort()
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const sink = spawn(smtpSink, [...user, '-c', `127.0.0.1:${port}`, '100'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  sink.stdout.on('data', (chunk) => {
    said += chunk
  })
  const ended = once(sink, 'close')
  t.teardown(async () => {
    sink.kill()
    await ended
  })
  await reachable(port)
  const connection = await open(t, { host: '127.0.0.1', port })
  t.equal(connection.capabilities.pipelining, true)
  const body = [Buffer.from('Subject: x\r\n\r\n'), Buffer.from('.dot\r\n'.repeat(2_000))]
  const results = await Promise.all(
    Array.from({ length: 200 }, () => connection.send({ from: '', to: 'a@example.test' }, body)),
  )
  t.ok(results.every(({ kind }) => kind === 'accepted'))
  sink.kill()
  await ended
  t.match(said, /mesg=200\s*$/, 'its own count')
})

/** smtp-sink says nothing when it is ready; it answers then. */
async function reachable(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      socket.destroy()
    }
  }
  throw new Error('smtp-sink does not listen')
}
