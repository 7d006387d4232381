// Issue 'What operators and developers ask' 6: the doctor looks at the provider of the log-in.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { checkLogInProvider } from '../../src/doctor/log-in-provider.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

t.test('the provider of the log-in is asked for what a log-in needs', async (t) => {
  const { ca, valid } = await testCertificates(t, 'id.example.test')
  const answers = new Map<string, string>()
  const server = createServer({ cert: valid.cert, key: valid.key }, ({ url = '' }, response) => {
    const text = answers.get(url)
    response.writeHead(text === undefined ? 404 : 200).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `https://id.example.test:${(server.address() as AddressInfo).port}`
  const { read } = await openTestStore(t)
  const resolver = fakeResolver({ 'id.example.test': { a: ['127.0.0.1'] } })
  const check = (env: Record<string, string>) =>
    checkLogInProvider({
      config: loadConfig({ env }),
      dataDir: '/tmp',
      read,
      clock: systemClock,
      resolver,
      key: makeApplianceKey(Buffer.alloc(32, 7)),
      random: () => 0,
      ca: ca.cert,
    })
  t.same(await check({}), [], 'nothing is asked where there is none')
  const env = { POSTHORN_DASHBOARD_OIDC_ISSUER: issuer, POSTHORN_DASHBOARD_OIDC_CLIENT_ID: 'us' }
  const look = async () => (await check(env))[0]
  t.match(await look(), { state: 'fail', found: 'does not answer: it answered 404' })
  const about = '/.well-known/openid-configuration'
  const told = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
  }
  answers.set(about, JSON.stringify({ ...told, issuer: 'https://other.test' }))
  t.match(await look(), { state: 'fail', fix: 'set dashboard.oidc.issuer = "https://other.test"' })
  answers.set(about, JSON.stringify({ ...told, token_endpoint: undefined }))
  t.match(await look(), { state: 'fail', found: 'does not tell its token_endpoint' })
  answers.set(about, JSON.stringify(told))
  t.match(await look(), { state: 'fail', found: /^its keys cannot be had \(it answered 404\)/ })
  answers.set('/keys', '{"keys":[]}')
  t.match(await look(), { state: 'fail', found: /it has no keys/ })
  answers.set('/keys', '{"keys":[{"kty":"EC"}]}')
  t.match(await look(), { state: 'ok', subject: issuer, fix: '' })
  resolver.set('id.example.test', { a: [] })
  t.match(await look(), { state: 'fail', found: /^does not answer: /, fix: /log in by a password/ })
})
