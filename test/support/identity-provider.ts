import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { Test } from 'tap'
import { providerFetch } from '../../src/app/log-in-provider.js'
import type { ApplianceKey } from '../../src/config/index.js'
import { pinned } from '../../src/dns/index.js'
import { silentLog } from '../../src/log/index.js'
import { type LogInProvider, makeLogInProvider } from '../../src/people/index.js'
import type { FakeClock } from './clock.js'
import { fakeResolver } from './resolver.js'
import { testCertificates } from './tls.js'

const clientId = 'posthorn'
const secret = 'a secret of the tests'
const host = 'id.example.test'

/** A provider for tests, and our side of it. */
interface StartedProvider {
  issuer: string
  /** Follows the browser's redirects there until it is sent back to us; resolves with that address. */
  visit(url: string): Promise<string>
  /** Our side of the log-in at this provider. */
  open(made: { clock: FakeClock; key: ApplianceKey }): LogInProvider
}

/** npm's oidc-provider, over TLS, which logs every visitor in as `who()` without asking. */
export async function startIdentityProvider(
  t: Test,
  who: () => { sub: string } & Record<string, unknown>,
): Promise<StartedProvider> {
  const { server, url, ca } = await openServer(t)
  const provider = new Provider(url, {
    clients: [
      {
        client_id: clientId,
        client_secret: secret,
        redirect_uris: ['http://127.0.0.1/login/provider/back'],
        application_type: 'native',
      },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/come-in/${uid}` },
    findAccount: (_context, id) => ({ accountId: id, claims: () => who() }),
    loadExistingGrant: async (context) => {
      const { client, session, params } = context.oidc
      const of = { clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' }
      const grant = new context.oidc.provider.Grant(of)
      grant.addOIDCScope(String(params?.scope))
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  server.on('request', async (request, response) => {
    if (!request.url?.startsWith('/come-in/')) return answer(request, response)
    await provider.interactionFinished(request, response, {
      login: { accountId: who().sub },
      consent: {},
    })
  })
  return {
    issuer: url,
    visit: (to) => follow(to, ca),
    open: (made) => ours(made, url, ca),
  }
}

/** A provider that signs whatever it is told, by OpenID Connect's rules or not. */
export async function startLyingProvider(
  t: Test,
  tokenOf: (claims: Record<string, unknown>) => { claims: object; key?: KeyObject; alg?: string },
  moreOf?: () => object,
): Promise<StartedProvider & { answer(state: string): string }> {
  const { server, url, ca } = await openServer(t)
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  let nonce = ''
  const replies: Record<string, () => object> = {
    '/.well-known/openid-configuration': () => ({
      issuer: url,
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      ...(moreOf !== undefined && { userinfo_endpoint: `${url}/me` }),
    }),
    '/me': () => moreOf?.() ?? {},
    '/jwks': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }] }),
    '/token': () => {
      const now = Math.floor(Date.now() / 1_000)
      const usual = { iss: url, sub: 'ada', aud: clientId, nonce, iat: now, exp: now + 60 }
      const said = tokenOf({ ...usual, email: 'olga@example.test', email_verified: true })
      const key = said.key ?? privateKey
      const id_token = signed(said.claims, key, said.alg ?? 'RS256')
      return { access_token: 'x', token_type: 'Bearer', id_token }
    },
  }
  server.on('request', (request, response) => {
    request.resume()
    const reply = replies[request.url ?? '']?.()
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply ?? {}))
  })
  return {
    issuer: url,
    visit: async (to) => {
      const { searchParams } = new URL(to)
      nonce = searchParams.get('nonce') ?? ''
      return `/login/provider/back?code=c&state=${searchParams.get('state')}`
    },
    answer: (state) => `/login/provider/back?code=c&state=${state}`,
    open: (made) => ours(made, url, ca),
  }
}

const ours = (
  { clock, key }: { clock: FakeClock; key: ApplianceKey },
  issuer: string,
  ca: string,
): LogInProvider => {
  const resolver = fakeResolver({ [host]: { a: ['127.0.0.1'] } })
  return makeLogInProvider(
    {
      clock,
      key,
      log: silentLog,
      fetch: providerFetch({ clock, resolver, ca }),
    },
    {
      issuer,
      clientId,
      name: 'Example ID',
      scopes: ['openid', 'email', 'profile'],
      rolesClaim: 'groups',
    },
    secret,
  )
}

function signed(claims: object, key: KeyObject, alg: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg, kid: 'one', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${alg === 'none' ? '' : createSign('sha256').update(text).sign(key, 'base64url')}`
}

async function openServer(t: Test): Promise<{ server: Server; url: string; ca: string }> {
  const { valid, ca } = await testCertificates(t, host)
  const server = createServer({ cert: valid.cert, key: valid.key })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, ca: ca.cert, url: `https://${host}:${(server.address() as AddressInfo).port}` }
}

/** A browser at the provider: keeps its cookies, follows it, and stops where it is sent to us. */
async function follow(url: string, ca: string): Promise<string> {
  const { request } = await import('node:https')
  const cookies = new Map<string, string>()
  let at = new URL(url)
  for (let step = 0; step < 10; step++) {
    const { status, headers } = await new Promise<{
      status: number
      headers: Record<string, string | string[] | undefined>
    }>((resolve, reject) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      request(at, { ca, lookup: pinned(['127.0.0.1']), headers: { cookie } }, (response) => {
        response.resume()
        resolve({ status: response.statusCode ?? 0, headers: response.headers })
      })
        .once('error', reject)
        .end()
    })
    for (const line of [headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    if (typeof headers.location !== 'string') throw new Error(`${status} at ${at.pathname}`)
    at = new URL(headers.location, at)
    if (at.pathname === '/login/provider/back') return `${at.pathname}${at.search}`
  }
  throw new Error('It leads nowhere')
}
