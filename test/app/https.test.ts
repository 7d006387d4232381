// Thorough: whole appliances over TLS, and certificates that change.
import { X509Certificate } from 'node:crypto'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKey } from '../../src/accounts/index.js'
import { applianceKeyFile } from '../../src/app/index.js'
import { Posthorn } from '../../src/client/index.js'
import { systemClock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { makeUnsubscribeLinks } from '../../src/preferences/index.js'
import { makeTrackingTokens } from '../../src/tracking/index.js'
import { get, openOverTls } from '../https/start.js'
import { Talk } from '../sandbox/talk.js'
import { FakeClock } from '../support/clock.js'
import { type PosthornOptions, startPosthorn } from '../support/posthorn.js'
import { type RawResponse, rawRequest } from '../support/raw-http.js'
import { makeTempDir } from '../support/store.js'
import { type TestCertificate, testCertificates } from '../support/tls.js'

t.setTimeout(120_000)
const { ca, valid, issue } = await testCertificates(t, 'links.example.test')
const club = await issue('club.example.test')

/** Where ACME's certificates lie. */
function hold(dataDir: string, { key, cert }: TestCertificate, name: string): void {
  mkdirSync(join(dataDir, 'certificates'), { recursive: true })
  writeFileSync(join(dataDir, 'certificates', `${name}.pem`), `${key}${cert}`)
}

/** A copy of the pair, that a test may change. */
function pairIn(dir: string, { certFile, keyFile }: TestCertificate) {
  const files = { certificate: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  copyFileSync(certFile, files.certificate)
  copyFileSync(keyFile, files.key)
  return files
}

/** An appliance whose public listener has TLS, for `links.example.test`. */
async function startWithTls(
  t: Test,
  {
    files = { certificate: valid.certFile, key: valid.keyFile },
    privateTls = {},
    ...options
  }: PosthornOptions & { files?: object; privateTls?: object } = {},
) {
  const posthorn = await startPosthorn(t, {
    ...options,
    settings: {
      ...options.settings,
      http: {
        private: { tls: privateTls },
        public: {
          url: 'https://links.example.test:8443',
          tls: { enabled: true, port: 0, ...files },
        },
      },
    },
  })
  const { publicPort, httpsPorts } = posthorn.appliance
  const key = openApplianceKey(applianceKeyFile(posthorn.dataDir))
  return { ...posthorn, key, plain: publicPort, secure: httpsPorts.public ?? 0 }
}

const one = (answer: RawResponse | undefined, header: string) => answer?.headers.get(header)?.[0]
const namesAt = async (port: number, servername: string) => {
  const { raw, names } = await openOverTls(port, { servername })
  await raw.destroy()
  return names
}

t.test(
  'the public pages over TLS: each host with its certificate, HSTS for our own alone',
  async (t) => {
    const dataDir = makeTempDir(t)
    hold(dataDir, club, 'club.example.test')
    const { secure, appliance } = await startWithTls(t, { dataDir })
    t.equal(appliance.publicUrl, 'https://links.example.test:8443')
    for (const [servername, hsts] of [
      ['links.example.test', 'max-age=604800'],
      ['club.example.test', undefined],
    ] as const) {
      const { raw, names, socket } = await openOverTls(secure, { servername, ca: ca.cert })
      t.match(names, `DNS:${servername}`)
      t.ok(socket.authorized, 'with its chain')
      const answer = await raw.write(get('/', servername)).response()
      t.match(answer?.body.toString(), '<h1>A mail server</h1>')
      t.equal(one(answer, 'strict-transport-security'), hsts)
      await raw.destroy()
    }
    t.match(await namesAt(secure, 'unknown.example.test'), 'DNS:links.example.test')
  },
)

t.test(
  'without TLS pages are led to it, and what mail has left with goes on to work',
  async (t) => {
    const { plain, accountId, key, send, store } = await startWithTls(t)
    const raw = (path: string, host = 'links.example.test', method = 'GET', more = '') =>
      rawRequest(plain, `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`)

    const led = await raw('/preferences/abc?x=1%20', 'links.example.test:80')
    t.equal(led?.status, 301)
    t.equal(one(led, 'location'), 'https://links.example.test:8443/preferences/abc?x=1%20')
    t.equal(one(led, 'strict-transport-security'), undefined, 'RFC 6797 §7.2: not without TLS')
    t.equal((await raw('/nowhere'))?.status, 301)
    t.equal((await raw('/', 'links.example.test', 'HEAD'))?.status, 301)
    for (const host of ['other.example.test', '127.0.0.1', '']) {
      t.equal(
        (await raw('/', host))?.status,
        200,
        `no certificate for '${host}': nobody is led there`,
      )
    }

    const unsubscribe = new URL(
      makeUnsubscribeLinks(key, 'http://x').url({ accountId, address: 'ann@example.org' }),
    ).pathname
    t.equal((await raw(unsubscribe))?.status, 301, 'the page is led to TLS')
    const body = 'List-Unsubscribe=One-Click'
    const form = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const post = await rawRequest(
      plain,
      `POST ${unsubscribe} HTTP/1.1\r\nHost: links.example.test\r\n${form}`,
    )
    t.equal(post?.status, 200, 'one-click posts are taken as they come')
    const left = await store.read.selectFrom('suppressions').selectAll().execute()
    t.equal(left.length, 1, 'and have their effect')

    const { json } = await send({
      from: 'a@sender.test',
      to: 'ann@example.org',
      subject: 'x',
      html: '<p>x</p>',
    })
    const copy = { accountId, emailId: json.id, deliveryId: 1 }
    const tokens = makeTrackingTokens(key)
    const pixel = await raw(`/o/${tokens.open(copy)}.gif`)
    t.equal(one(pixel, 'content-type'), 'image/gif')
    const click = tokens.click({ ...copy, links: 1, target: 'https://example.org/' })
    t.equal(one(await raw(`/c/${click}`), 'location'), 'https://example.org/')

    const token = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA'
    const answer = `${token}.thumbprint`
    await store.write((tx) => tx.insertInto('acme_challenges').values({ token, answer }).execute())
    const challenge = await raw(`/.well-known/acme-challenge/${token}`)
    t.equal(challenge?.status, 200)
    t.equal(challenge?.body.toString(), answer)
    for (const wrong of ['..%2f..%2fappliance.key', 'a'.repeat(30), '%00']) {
      t.equal((await raw(`/.well-known/acme-challenge/${wrong}`))?.status, 404)
    }
  },
)

t.test('changed files are read within thirty seconds, and cut off nobody', async (t) => {
  const clock = new FakeClock(Date.now())
  const files = pairIn(makeTempDir(t), valid)
  const smtp = { tls: files }
  const { secure, appliance } = await startWithTls(t, { clock, files, settings: { inbound: smtp } })
  const { raw } = await openOverTls(secure)
  const renewed = await issue('renewed.example.test')
  const der = new X509Certificate(renewed.cert).raw
  const atSmtp = async () => {
    const talk = await Talk.open(t, appliance.inboundSmtpPort ?? 0)
    await talk.say('EHLO client.test')
    await talk.say('STARTTLS')
    return await talk.secure()
  }
  copyFileSync(renewed.certFile, files.certificate)
  await clock.advance(30_000)
  t.match(await namesAt(secure, ''), 'DNS:links.example.test', 'half a pair is waited for')
  copyFileSync(renewed.keyFile, files.key)
  await clock.advance(30_000)
  // The threads have been told; they read on their own turn.
  while (!(await namesAt(secure, '')).includes('renewed')) await clock.advance(0)
  while (!(await atSmtp()).equals(der)) await clock.advance(0)
  t.equal((await raw.write(get('/', '127.0.0.1')).response())?.status, 200, 'who was there goes on')
  await raw.destroy()
})

t.test('what ACME brings is offered from the next reload on, by every listener', async (t) => {
  const submission = { enabled: true, starttls: '127.0.0.1:0', tls: '127.0.0.1:0' }
  const { secure, plain, appliance, dataDir } = await startWithTls(t, {
    files: {},
    settings: { tls: { acme: true, agree_to_terms: true }, submission },
    env: { POSTHORN_OUTBOUND_HELO_NAME: 'mail.example.test' },
  })
  const { submissionPorts, inboundSmtpPort = 0 } = appliance
  const offers = async (port: number) => {
    const talk = await Talk.open(t, port)
    return (await talk.say('EHLO client.test')).includes('STARTTLS')
  }
  await t.rejects(openOverTls(secure), 'no certificate yet: a handshake fails')
  await t.rejects(openOverTls(submissionPorts.tls ?? 0), 'and nobody sees the key of a library')
  t.same(
    [await offers(inboundSmtpPort), await offers(submissionPorts.starttls ?? 0)],
    [false, false],
  )
  const root = await rawRequest(plain, get('/', 'links.example.test'))
  t.equal(root?.status, 200, 'nobody is led to where they could not be served')

  hold(dataDir, valid, 'links.example.test')
  hold(dataDir, await issue('mail.example.test'), 'mail.example.test')
  appliance.reload()
  const opens = (port: number) => namesAt(port, '').catch(() => '')
  while ((await opens(secure)) === '') await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(await namesAt(secure, ''), 'DNS:links.example.test')
  while ((await opens(submissionPorts.tls ?? 0)) === '') {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.match(await namesAt(submissionPorts.tls ?? 0, ''), 'DNS:mail.example.test')
  t.match(await namesAt(submissionPorts.tls ?? 0, 'links.example.test'), 'DNS:links.example.test')
  t.same([await offers(inboundSmtpPort), await offers(submissionPorts.starttls ?? 0)], [true, true])
  t.equal((await rawRequest(plain, get('/', 'links.example.test')))?.status, 301)
})

t.test(
  'the private listener over TLS: the client library, limits by address, health',
  async (t) => {
    const { url, apiKey, store, accountId, appliance } = await startWithTls(t, {
      privateTls: { enabled: true, certificate: valid.certFile, key: valid.keyFile },
    })
    const port = appliance.httpsPorts.private ?? 0
    t.equal(url, `https://127.0.0.1:${port}`)
    const { emails } = new Posthorn({ url, apiKey, fetch: fetchWith(ca.cert) })
    const mail = { from: 'a@sender.test', to: 'ann@example.org', subject: 'x', html: '<p>x</p>' }
    t.type((await emails.send(mail)).id, 'string')

    const limits = { networks: ['127.7.0.0/16'] }
    const { key } = await createKey({ store, clock: systemClock }, accountId, 'near', { limits })
    const authorization = `Authorization: Bearer ${key}\r\n`
    for (const [localAddress, status] of [
      ['127.7.1.1', 200],
      ['127.8.1.1', 403],
    ] as const) {
      const { raw } = await openOverTls(port, { localAddress })
      t.equal(
        (await raw.write(get('/v1/domains', 'localhost', authorization)).response())?.status,
        status,
      )
      await raw.destroy()
    }
    const { raw } = await openOverTls(port)
    t.equal((await raw.write(get('/readyz')).response())?.status, 200)
    t.equal((await raw.write(get('/', 'evil.example.test')).response())?.status, 421)
    await raw.destroy()
    const plain = await rawRequest(port, get('/readyz'))
    t.match(plain?.body.toString(), 'https://')
  },
)

t.test('a header is seen byte for byte over TLS too', async (t) => {
  const { apiKey, appliance } = await startWithTls(t, {
    privateTls: { enabled: true, certificate: valid.certFile, key: valid.keyFile },
  })
  const mail = JSON.stringify({
    from: 'a@sender.test',
    to: 'b@c.test',
    subject: 'x',
    html: '<p>x</p>',
  })
  const post = (key: string) =>
    Buffer.from(
      `POST /v1/emails/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${mail.length}\r\nIdempotency-Key: ${key}\r\n\r\n${mail}`,
      'latin1',
    )
  const { raw } = await openOverTls(appliance.httpsPorts.private ?? 0)
  // The first request of a connection has the PROXY header before it.
  t.equal((await raw.write(post('order-1é')).response())?.status, 400)
  t.equal((await raw.write(post('order-1é')).response())?.status, 400)
  t.equal((await raw.write(post('order-1')).response())?.status, 200)
  await raw.destroy()
})

t.test('a stop lets a request over TLS end', async (t) => {
  const { apiKey, appliance } = await startWithTls(t, {
    privateTls: { enabled: true, certificate: valid.certFile, key: valid.keyFile },
  })
  const mail = JSON.stringify({
    from: 'a@sender.test',
    to: 'b@c.test',
    subject: 'x',
    html: '<p>x</p>',
  })
  const { raw } = await openOverTls(appliance.httpsPorts.private ?? 0)
  raw.write(
    `POST /v1/emails/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${mail.length}\r\n\r\n${mail.slice(0, 5)}`,
  )
  // Its head has been taken once the server answers another.
  const other = await openOverTls(appliance.httpsPorts.private ?? 0)
  await other.raw.write(get('/readyz')).response()
  const closed = appliance.close()
  raw.write(mail.slice(5))
  t.equal((await raw.response())?.status, 200)
  await closed
})

/** As `fetch`, for an authority of one's own. */
const fetchWith = (authority: string) => (url: string, init: RequestInit) =>
  new Promise<Response>((resolve, reject) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const asked = request(url, { method: init.method, headers, ca: authority }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const fields = Object.entries(response.headers).map(([name, value]) => [
          name,
          String(value),
        ])
        resolve(
          new Response(Buffer.concat(chunks), {
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(fields),
          }),
        )
      })
    })
    asked.once('error', reject)
    asked.end(init.body)
  })
