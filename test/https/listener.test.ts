import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import t from 'tap'
import type { Certificate } from '../../src/smtpd/index.js'
import { FakeClock } from '../support/clock.js'
import { testCertificates } from '../support/tls.js'
import { get, openOverTls, pairOf, startSecured } from './start.js'

const certificates = await testCertificates(t, 'links.example.test')
const usual = pairOf(certificates.valid)
const of = new Map<string, Certificate>([
  ['shop.example.test', pairOf(await certificates.issue('shop.example.test'))],
  ['club.example.test', pairOf(await certificates.issue('club.example.test'))],
])
const chosen = (name: string | undefined) => of.get(name ?? '') ?? usual

const large = Buffer.alloc(8 * 1024 * 1024, 'x')
const { listener, refused } = await startSecured(t, chosen, (pages) => {
  pages.get('/me', ({ remoteAddress }) => ({ text: remoteAddress }))
  pages.get('/large', () => ({ bytes: large, contentType: 'text/plain' }))
  pages.post('/large', { raw: true, maxBodyBytes: large.length }, ({ rawBody }) => ({
    text: String(rawBody.length),
  }))
})
const { port } = listener
/** What comes of the large page, on a connection of its own that may be used again. */
function openDownload(port: number) {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      let length = 0
      const count = (chunk: Buffer) => {
        length += chunk.length - (length === 0 ? chunk.indexOf('\r\n\r\n') + 4 : 0)
        if (length < large.length) return
        socket.off('data', count)
        resolve(length)
      }
      socket.on('data', count).once('close', () => reject(new Error(`Cut off after ${length}`)))
      socket.write(get('/large'))
    })
  return { socket, ask }
}

const gone = async () => {
  while (listener.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

t.test('a request over TLS is answered, with the address of its client', async (t) => {
  for (const localAddress of ['127.0.0.1', '127.3.2.1']) {
    const { raw } = await openOverTls(port, { localAddress })
    t.equal((await raw.write(get('/me')).response())?.body.toString(), localAddress)
    t.equal((await raw.write(get('/me')).response())?.body.toString(), localAddress)
    await raw.destroy()
  }
  await gone()
})

t.test(
  'each name gets its certificate; none, and one that is not known, the usual one',
  async (t) => {
    const ca = certificates.ca.cert
    for (const [servername, expected] of [
      ['shop.example.test', 'shop.example.test'],
      ['club.example.test', 'club.example.test'],
      ['links.example.test', 'links.example.test'],
      ['other.example.test', 'links.example.test'],
      ['', 'links.example.test'],
    ]) {
      const { raw, socket, names } = await openOverTls(port, { servername, ca })
      t.match(names, `DNS:${expected}`, `asked for ${servername}`)
      t.equal(socket.alpnProtocol, false)
      t.equal((await raw.write(get('/me')).response())?.status, 200)
      await raw.destroy()
    }
  },
)

t.test('what was renewed is for new connections, and cuts no download off', async (t) => {
  let now = pairOf(certificates.valid)
  const secured = await startSecured(
    t,
    () => now,
    (pages) => pages.get('/large', () => ({ bytes: large, contentType: 'text/plain' })),
  )
  const old = openDownload(secured.listener.port)
  await once(old.socket, 'secureConnect')
  const download = old.ask()
  old.socket.pause()
  const kept = openDownload(secured.listener.port)
  await kept.ask()

  now = pairOf(await certificates.issue('renewed.example.test'))
  secured.listener.renew()
  for (const servername of ['', 'links.example.test']) {
    const fresh = await openOverTls(secured.listener.port, { servername })
    t.match(fresh.names, 'DNS:renewed.example.test')
    await fresh.raw.destroy()
  }
  old.socket.resume()
  t.equal(await download, large.length, 'what was under way goes on')
  t.equal(await kept.ask(), large.length, 'and what was kept alive too')
  old.socket.destroy()
  kept.socket.destroy()
})

t.test('a large body goes in at the pace of the server behind', async (t) => {
  const { raw } = await openOverTls(port)
  raw.write(`POST /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${large.length}\r\n\r\n`)
  const answer = await raw.write(large).response()
  t.equal(answer?.body.toString(), String(large.length))
  await raw.destroy()
})

t.test('an address that a client makes up is not believed', async (t) => {
  const { raw } = await openOverTls(port)
  t.equal((await raw.write(get('/me')).response())?.body.toString(), '127.0.0.1')
  // A PROXY header of the client's own, which uWS takes before every request.
  const header = Buffer.from('0d0a0d0a000d0a515549540a21210024', 'hex')
  const address = Buffer.from('20010db8000000000000000000000001', 'hex')
  raw.write(Buffer.concat([header, address, Buffer.alloc(20), Buffer.from(get('/me'))]))
  t.equal(await raw.response(), undefined, 'the connection is closed')
})

t.test('who speaks HTTP without TLS is told so, and anything else is closed', async (t) => {
  const talk = async (text: string) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.on('error', () => {})
    socket.write(text)
    await once(socket, 'close')
    return got
  }
  t.match(await talk(get('/me')), /^HTTP\/1\.1 400 .*speaks HTTPS/s)
  t.equal(await talk('\0\0\0\0'), '')
  t.equal(await talk('SSH-2.0-client\r\n'), '')
  // A handshake's first byte, and then nothing of one.
  t.notMatch(await talk('\x16 what is this'), 'HTTP')
  t.match(refused, ['plain', 'plain', 'plain', 'handshake'])
  await gone()
})

t.test('old versions, weak ciphers and renegotiation are refused', async (t) => {
  const tries: ConnectionOptions[] = [
    { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' },
    { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' },
    { ALPNProtocols: ['acme-tls/1'] },
  ]
  for (const options of tries) {
    await t.rejects(openOverTls(port, options))
  }
  const { socket } = await openOverTls(port, { maxVersion: 'TLSv1.2' })
  const refusal = await new Promise((resolve) => {
    socket.once('error', resolve)
    socket.renegotiate({}, (error) => error && resolve(error))
  })
  t.match(refusal, Error)
  socket.destroy()
  const both = await openOverTls(port, { ALPNProtocols: ['h2', 'http/1.1'] })
  t.equal(both.socket.alpnProtocol, 'http/1.1')
  await both.raw.destroy()
  await gone()
})

t.test('a connection that does not get on ends after ten seconds', async (t) => {
  const clock = new FakeClock()
  const secured = await startSecured(
    t,
    () => usual,
    () => {},
    { clock },
  )
  const sockets = ['', '\x16', '\x16\x03\x01\x02\x00\x01'].map((bytes) => {
    const socket = connect({ port: secured.listener.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write(bytes)
    return socket
  })
  const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
  const good = await openOverTls(secured.listener.port)
  while (secured.listener.connections < 4) await new Promise((resolve) => setTimeout(resolve, 5))
  await clock.advance(9_999)
  t.equal(secured.listener.connections, 4)
  await clock.advance(1)
  await closed
  t.equal(secured.listener.connections, 1, 'the one that has got on stays')
  t.equal(secured.refused.filter((cause) => cause === 'silent').length, 3)
  await good.raw.destroy()
})

t.test('a thousand handshakes that never end leave room for everybody else', async (t) => {
  const secured = await startSecured(
    t,
    () => usual,
    (pages) => pages.get('/me', ({ remoteAddress }) => ({ text: remoteAddress })),
    { maxConnections: 200 },
  )
  const hold = async (localAddress: string) => {
    const socket = connect({ port: secured.listener.port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write('\x16\x03\x01')
    return socket
  }
  const held: Socket[] = []
  // From five networks, two hundred each: more than all places.
  for (let i = 0; i < 1_000; i++) held.push(await hold(`127.0.${1 + (i % 5)}.${1 + (i % 250)}`))
  const { raw } = await openOverTls(secured.listener.port, { localAddress: '127.9.9.9' })
  t.equal((await raw.write(get('/me')).response())?.body.toString(), '127.9.9.9')
  t.ok(secured.listener.connections <= 200)
  for (const socket of held) socket.destroy()
  await raw.destroy()
})

t.test('of handshakes under way the oldest gives its place up', async (t) => {
  const secured = await startSecured(
    t,
    () => usual,
    () => {},
    { maxConnections: 40 },
  )
  const open: Socket[] = []
  for (let i = 0; i < 12; i++) {
    const socket = connect({ port: secured.listener.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write('\x16\x03\x01')
    open.push(socket)
  }
  const [first, second] = open
  await Promise.all([first, second].map((socket) => socket && once(socket.resume(), 'close')))
  t.equal(secured.refused.filter((cause) => cause === 'crowded').length, 2)
  t.equal(secured.listener.connections, 10)
  const { raw } = await openOverTls(secured.listener.port)
  await raw.destroy()
  for (const socket of open) socket.destroy()
})

t.test('without any certificate a handshake is refused, and with one it works', async (t) => {
  let now: Certificate | undefined
  const secured = await startSecured(
    t,
    () => now,
    () => {},
  )
  await t.rejects(openOverTls(secured.listener.port), { code: /^ERR_SSL/ })
  await t.rejects(openOverTls(secured.listener.port, { servername: 'links.example.test' }))
  now = usual
  secured.listener.renew()
  const { raw } = await openOverTls(secured.listener.port)
  await raw.destroy()
})

t.test('a session is taken up again, for the default name and for others', async (t) => {
  for (const servername of ['links.example.test', 'shop.example.test']) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const first = connectTls({
        port,
        host: '127.0.0.1',
        servername,
        maxVersion,
        rejectUnauthorized: false,
      })
      first.write(get('/me'))
      const [session] = await once(first, 'session')
      first.destroy()
      const again = await openOverTls(port, { servername, maxVersion, session })
      t.ok(again.socket.isSessionReused(), `${servername}, ${maxVersion}`)
      t.equal((await again.raw.write(get('/me')).response())?.status, 200)
      await again.raw.destroy()
    }
  }
})

t.test(
  'who gets on after the clock was set back keeps their place, and who does not loses it',
  async (t) => {
    const clock = new FakeClock()
    const monthMs = 30 * 86_400_000
    clock.jump(monthMs)
    const options = { clock, maxConnections: 4 }
    const { listener } = await startSecured(
      t,
      chosen,
      (pages) => pages.get('/me', ({ remoteAddress }) => ({ text: remoteAddress })),
      options,
    )
    const connect = (localAddress: string) => openOverTls(listener.port, { localAddress })
    const { raw: busy } = await connect('127.0.1.1')
    t.equal((await busy.write(get('/me')).response())?.status, 200)
    clock.setBack(monthMs)
    const { raw: idle } = await connect('127.0.2.1')
    t.equal((await idle.write(get('/me')).response())?.status, 200)
    // A third one, as only a newcomer to a place half full has the others looked at.
    const { raw: other } = await connect('127.0.3.1')
    await clock.advance(50_000)
    t.equal((await busy.write(get('/me')).response())?.status, 200)
    await clock.advance(20_000)
    const { raw: newcomer } = await connect('127.0.4.1')
    t.equal((await busy.write(get('/me')).response())?.status, 200)
    t.equal((await newcomer.write(get('/me')).response())?.status, 200)
    t.equal(listener.connections, 2, 'the idle ones were let go')
    for (const raw of [busy, idle, other, newcomer]) await raw.destroy()
  },
)
