// Thorough: a whole appliance behind a load balancer that speaks the PROXY protocol, version 2.
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import { createKey } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { listSessions } from '../../src/submission/index.js'
import { get } from '../https/start.js'
import { Talk } from '../sandbox/talk.js'
import { plainToken, startSubmission, submit } from '../submission/start.js'
import { proxyHeader } from '../support/proxy-header.js'
import { RawConnection } from '../support/raw-http.js'
import { testCertificates } from '../support/tls.js'

t.setTimeout(120_000)
const client = '198.51.100.7'
const { valid } = await testCertificates(t, 'links.example.test')
const files = { certificate: valid.certFile, key: valid.keyFile }
const from = ['127.0.1.0/24']

const posthorn = await startSubmission(t, {
  settings: {
    http: {
      proxy_protocol_from: from,
      public: {
        url: 'https://links.example.test:8443',
        tls: { enabled: true, port: 0, ...files },
      },
    },
    submission: {
      proxy_protocol_from: from,
      plain: { listen: '127.0.0.1:0', networks: ['198.51.100.0/24'] },
    },
  },
})
const { appliance, store, accountId, ports, apiKey } = posthorn
const { httpsPorts, publicPort } = appliance

/** A connection that begins with a header, from where one has to be unless said otherwise. */
async function open(
  port: number,
  header: Buffer | undefined,
  { tls = false, by = '127.0.1.1' } = {},
) {
  const socket = connectTcp({ port, host: '127.0.0.1', localAddress: by })
  await once(socket, 'connect')
  if (header !== undefined) socket.write(header)
  if (!tls) return new RawConnection(socket)
  const secured = connectTls({ socket, rejectUnauthorized: false })
  await once(secured, 'secureConnect')
  return new RawConnection(secured)
}

t.test('the API: a key that may be used from one network alone', async (t) => {
  const limits = { networks: ['198.51.100.0/24'] }
  const { key } = await createKey({ store, clock: systemClock }, accountId, 'near', { limits })
  const ask = get('/v1/domains', 'localhost', `Authorization: Bearer ${key}\r\n`)
  const port = httpsPorts.private ?? 0
  const answers = async (raw: RawConnection) => {
    const first = (await raw.write(ask).response())?.status
    const second = (await raw.write(ask).response())?.status
    await raw.destroy()
    return [first, second]
  }
  t.same(await answers(await open(port, proxyHeader(client))), [200, 200])
  t.same(await answers(await open(port, proxyHeader('203.0.113.9'))), [403, 403])
  t.same(await answers(await open(port, proxyHeader(undefined))), [403, 403], 'the proxy itself')
  t.same(await answers(await open(port, undefined, { by: '127.0.2.1' })), [403, 403])
  t.same(
    await answers(await open(port, undefined)),
    [undefined, undefined],
    'no header where there has to be one',
  )
  // From elsewhere it is no HTTP, which uWS is silent about: nothing of it is served while others are.
  const elsewhere = await open(port, proxyHeader(client), { by: '127.0.2.1' })
  const nothing = elsewhere.write(ask).response()
  const served = answers(await open(port, proxyHeader(client)))
  t.same(await Promise.race([nothing, served]), [200, 200])
  await elsewhere.destroy()
  // A client behind the proxy writes one of its own before its second request.
  const raw = await open(port, proxyHeader('203.0.113.9'))
  t.equal((await raw.write(ask).response())?.status, 403)
  raw.write(Buffer.concat([proxyHeader(client), Buffer.from(ask)]))
  t.equal(await raw.response(), undefined)
})

t.test('the public listener, with TLS and without', async (t) => {
  t.equal(appliance.publicPort, httpsPorts.publicPlain)
  const secure = await open(httpsPorts.public ?? 0, proxyHeader(client), { tls: true })
  const root = get('/', 'links.example.test')
  t.equal((await secure.write(root).response())?.status, 200)
  await secure.destroy()
  const plain = await open(publicPort, proxyHeader(client))
  const led = await plain.write(root).response()
  t.same(led?.headers.get('location'), ['https://links.example.test:8443/'])
  await plain.destroy()
  const none = await open(publicPort, undefined)
  t.equal(await none.write(root).response(), undefined)
})

t.test('submission: who may connect, and what the log of sessions says', async (t) => {
  const come = async (first: Buffer) => await Talk.greeted(t, ports.plain ?? 0, '127.0.1.1', first)
  t.match((await come(proxyHeader('203.0.113.9'))).greeting, /^554 5\.7\.1 This address may not/)
  const { talk } = await come(proxyHeader(client))
  await talk.say('EHLO me.test')
  await talk.say(`AUTH PLAIN ${plainToken(apiKey)}`)
  t.match(await submit(talk, 'From: ada@sender.test\r\nSubject: x\r\n\r\nx'), /^250/)
  await talk.say('QUIT')
  // TLS from the first byte on.
  const socket = connectTcp({ port: ports.tls ?? 0, host: '127.0.0.1', localAddress: '127.0.1.1' })
  socket.write(proxyHeader('2001:db8::7'))
  const secured = connectTls({ socket, rejectUnauthorized: false })
  await once(secured, 'data')
  secured.end('QUIT\r\n')
  await once(secured, 'close')
  const seen = async () => {
    const sessions = await listSessions(store.read, { refused: false, limit: 10 })
    return sessions.map(({ remote_address: address, listener }) => `${listener} ${address}`).sort()
  }
  while ((await seen()).length < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(await seen(), ['plain 198.51.100.7', 'plain 203.0.113.9', 'tls 2001:db8::7'])
})
