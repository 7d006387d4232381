import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { Resolver } from '../../src/dns/index.js'
import { makeFetchFile } from '../../src/emails/index.js'
import { postalParts, sha256 } from '../mime/readers.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import { directTo, startPosthorn } from '../support/posthorn.js'
import { fakeResolver } from '../support/resolver.js'
import { testCertificates } from '../support/tls.js'

const limits = { accountId: 'a', withinMs: 20_000, maxBytes: 100_000 }
const own = { 'files.test': { a: ['127.0.0.1'] } }

async function files(t: Test, answer: RequestListener, host = '127.0.0.1', wanted = 0) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  await once(server.listen(wanted, host), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, server, port: (server.address() as AddressInfo).port }
}

function fetcher(resolver: Resolver = fakeResolver(own), allow = ['files.test']) {
  const clock = new FakeClock()
  return { clock, fetchFile: makeFetchFile({ clock, resolver, allow }) }
}

t.test('a file comes over TLS, in pieces, and by redirects', async (t) => {
  const certificates = await testCertificates(t, 'files.test')
  const bytes = randomBytes(90_000)
  const server = createTlsServer(certificates.valid, (request, response) => {
    if (request.url === '/a') response.writeHead(302, { location: '/b?x=1' }).end()
    else response.end(bytes)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const deps = { clock: new FakeClock(), resolver: fakeResolver(own), allow: ['files.test'] }
  const trusting = makeFetchFile({ ...deps, ca: certificates.ca.cert })
  const got = await trusting(`https://files.test:${port}/a`, limits)
  t.ok('pieces' in got && Buffer.concat(got.pieces).equals(bytes))
  const strange = await makeFetchFile(deps)(`https://files.test:${port}/a`, limits)
  t.match(
    strange,
    { failed: /^the certificate of files\.test is not trusted, or is not for that name \(/ },
    'an unknown authority',
  )
  const otherName = { ...deps, resolver: fakeResolver({ 'other.test': { a: ['127.0.0.1'] } }) }
  const misnamed = makeFetchFile({ ...otherName, allow: ['other.test'], ca: certificates.ca.cert })
  t.match(await misnamed(`https://other.test:${port}/a`, limits), {
    failed: /^the certificate of other\.test .+ \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
  })
})

t.test('a redirect to this machine, or to another scheme, is refused, and not asked', async (t) => {
  const inner = await files(t, (_, response) => response.end('secret'))
  const targets = new Map([
    ['/loopback', `http://127.0.0.1:${inner.port}/`],
    ['/name', `http://inside.test:${inner.port}/`],
    ['/localhost', `https://localhost:${inner.port}/`],
    ['/six', `https://[::1]:${inner.port}/`],
    ['/metadata', 'http://169.254.169.254/latest'],
    ['/scheme', 'file:///etc/passwd'],
    ['/user', 'https://user:word@files.test/'],
  ])
  const { port } = await files(t, ({ url = '' }, response) => {
    const location = targets.get(url) ?? `${url}x`
    response.writeHead(302, { location }).end()
  })
  const resolver = fakeResolver({ ...own, 'inside.test': { a: ['127.0.0.1'] } })
  const { fetchFile } = fetcher(resolver)
  for (const path of targets.keys()) {
    t.match(await fetchFile(`http://files.test:${port}${path}`, limits), {
      failed: /is not at a public address over https|expected a URL of a file over https/,
    })
  }
  t.same(inner.asked, [])
  const round = await fetchFile(`http://files.test:${port}/round`, limits)
  t.same(round, { failed: 'over 3 redirects' })
})

t.test('a name is judged for each connection, by the address that is connected to', async (t) => {
  const outer = await files(
    t,
    ({ url }, response) => {
      if (url === '/file') response.end('outer')
      else response.writeHead(307, { location: '/file' }).end()
    },
    '127.0.0.2',
  )
  // The same port, where the name leads once it was judged.
  const inner = await files(t, (_, response) => response.end('inner'), '127.0.0.1', outer.port)
  const rebinding = (answers: string[]): Resolver => {
    const table = fakeResolver()
    return {
      ...table,
      a: (name) => {
        table.set('turns.test', { a: [answers.shift() ?? '127.0.0.1'] })
        return table.a(name)
      },
    }
  }
  const url = `http://turns.test:${outer.port}`
  const first = fetcher(rebinding(['127.0.0.2']), ['127.0.0.2/32'])
  const got = await first.fetchFile(`${url}/file`, limits)
  t.ok('pieces' in got && Buffer.concat(got.pieces).toString() === 'outer')
  const twice = fetcher(rebinding(['127.0.0.2']), ['127.0.0.2/32'])
  const refused = await twice.fetchFile(`${url}/redirect`, limits)
  t.same(refused, { failed: 'turns.test is not at a public address over https' })
  t.same([outer.asked, inner.asked], [['/file', '/redirect'], []])
})

t.test('what is too large, empty, compressed or an error is refused in words', async (t) => {
  const { port } = await files(t, ({ url }, response) => {
    if (url === '/declared') response.writeHead(200, { 'content-length': 100_001 }).flushHeaders()
    else if (url === '/endless') {
      const more = () => {
        if (!response.destroyed) response.write(Buffer.alloc(60_000), () => setImmediate(more))
      }
      more()
    } else if (url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
    else if (url === '/gone') response.writeHead(404).end('x')
    else response.end()
  })
  const { fetchFile } = fetcher()
  for (const [path, failed] of [
    ['/declared', 'the file has over 100000 bytes'],
    ['/endless', 'the file has over 100000 bytes'],
    ['/gzip', 'files.test sent it compressed, which was not asked for'],
    ['/gone', 'files.test answered 404'],
    ['/empty', 'the file is empty'],
  ]) {
    t.same(await fetchFile(`http://files.test:${port}${path}`, limits), { failed })
  }
})

t.test('a server that falls silent, in its head or in the file, is left at the end', async (t) => {
  const { port, asked, server } = await files(t, ({ url }, response) => {
    if (url === '/body') response.write('a')
  })
  const { clock, fetchFile } = fetcher()
  for (const path of ['/head', '/body']) {
    const arrived = once(server, 'request')
    const got = fetchFile(`http://files.test:${port}${path}`, limits)
    await arrived
    await clock.advance(20_000)
    t.same(await got, { failed: 'files.test took too long' })
  }
  t.same(asked, ['/head', '/body'])
})

t.test('a mail arrives with the file that its URL names, fetched once a batch', async (t) => {
  const bytes = randomBytes(150_000)
  const { port, asked } = await files(t, (_, response) => response.end(bytes))
  const mx = await fakeMx(t)
  const settings = { attachments: { allow: ['127.0.0.0/8'] } }
  const posthorn = await startPosthorn(t, { ...directTo(mx), settings })
  const attachments = [{ filename: 'terms.pdf', url: `http://127.0.0.1:${port}/terms` }]
  const mail = { from: 'a@sender.test', subject: 'Terms', html: '<p>x</p>', attachments }
  const emails = ['b@one.test', 'c@two.test'].map((to) => ({ ...mail, to }))
  const { json, text } = await posthorn.call('POST', '/v1/emails/batch', { body: { emails } })
  t.equal(json.queued, 2, text)
  for (const id of json.ids) await posthorn.until(id, ({ status }) => status === 'delivered')
  for (const { raw } of mx.messages) {
    t.match(await postalParts(raw), [{ filename: 'terms.pdf', sha256: sha256(bytes) }])
  }
  t.same(asked, ['/terms'])
  const contents = await posthorn.store.read.selectFrom('contents').selectAll().execute()
  t.match(contents, [{ size_bytes: bytes.length }])
  t.equal(contents.length, 1)
})
