import { createHash, createHmac, type JsonWebKey, randomBytes } from 'node:crypto'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Life, readJws, testAuthority } from './acme-authority.js'
import type { TestCertificate } from './tls.js'

/** What the directory does next; a test changes it while it runs. */
export interface Behaviour {
  /** `later` leaves orders pending until `decide` is called. */
  validation: 'at once' | 'later'
  /** How many more requests are refused for their nonce. */
  badNonces: number
  /** Every order is refused with this type and detail, and with the seconds of a Retry-After. */
  refusal: { type: string; detail: string; retryAfter?: number } | undefined
  /** Orders of these names are refused by `rateLimited`. */
  limited: RegExp | undefined
  /** What every answer is: 503, a redirect, an endless body, or none at all. */
  fault: 'unavailable' | 'redirect' | 'endless' | 'silent' | undefined
  /** Only these requests get a 503, such as `POST /finalize/1`. */
  failsAt: RegExp | undefined
  /** These requests are never answered. */
  hangsAt: RegExp | undefined
  /** How long certificates are good. */
  life: (now: number) => Life
  certificate: 'good' | 'of another key' | 'of another name'
  /** RFC 9773; undefined: there is no such resource. */
  renewal: (Life & { retryAfter: number }) | undefined
  /** RFC 8555 §7.3.4: new accounts have to be bound to this one, by its key (base64url). */
  bound: { kid: string; hmacKey: string } | undefined
  /** The TXT records in the DNS; undefined: names are proved by HTTP-01. */
  txt: ((name: string) => readonly string[]) | undefined
}

interface Order {
  id: number
  account: string
  name: string
  replaces: string | undefined
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  token: string
  error: object | undefined
  chain: string
}

export interface AcmeDirectory {
  url: string
  /** PEM of the authority that signs the certificates. */
  root: string
  orders: readonly Order[]
  accounts: ReadonlyMap<string, { jwk: JsonWebKey; contact: string[] }>
  /** Method and path of each request. */
  requests: string[]
  behaviour: Behaviour
  /** Where the names' port 80 is. */
  port80: () => number
  /** Looks at the challenges of all pending orders. */
  decide(): Promise<void>
  forgetAccounts(): void
  forgetOrders(): void
}

const dayMs = 86_400_000

/**
 * A directory of RFC 8555 over HTTPS on a free port: nonces, accounts and signatures are checked, HTTP-01 is checked
 * by a real request to `port80` of 127.0.0.1, and requests for certificates are verified.
 */
export async function acmeDirectory(
  t: { teardown(stop: () => unknown): void },
  options: { tls: TestCertificate; host: string; port80: () => number; now?: () => number },
): Promise<AcmeDirectory> {
  const { tls, host, now = Date.now } = options
  const authority = await testAuthority()
  const behaviour: Behaviour = {
    validation: 'at once',
    badNonces: 0,
    refusal: undefined,
    limited: undefined,
    fault: undefined,
    hangsAt: undefined,
    failsAt: undefined,
    life: (at) => ({ beganAt: at, endsAt: at + 90 * dayMs }),
    certificate: 'good',
    renewal: undefined,
    bound: undefined,
    txt: undefined,
  }
  const nonces = new Set<string>()
  const accounts = new Map<string, { jwk: JsonWebKey; contact: string[] }>()
  let orders: Order[] = []
  const requests: string[] = []
  let base = ''

  const newNonce = () => {
    const nonce = randomBytes(16).toString('base64url')
    nonces.add(nonce)
    return nonce
  }
  const judge = async (order: Order) => {
    const answer = `${order.token}.${thumbprint(accounts.get(order.account)?.jwk ?? {})}`
    const { txt } = behaviour
    const hash = createHash('sha256').update(answer).digest('base64url')
    const error = txt
      ? txt(`_acme-challenge.${order.name}`).includes(hash)
        ? undefined
        : { type: 'urn:ietf:params:acme:error:unauthorized', detail: 'No TXT record' }
      : await askChallenge(order.name, order.token, made.port80(), answer)
    order.status = error === undefined ? 'ready' : 'invalid'
    order.error = error
  }
  const shown = ({ id, status, name, error, chain }: Order) => ({
    status,
    identifiers: [{ type: 'dns', value: name }],
    authorizations: [`${base}/authz/${id}`],
    finalize: `${base}/finalize/${id}`,
    ...(chain === '' ? {} : { certificate: `${base}/cert/${id}` }),
    ...(error === undefined ? {} : { error }),
  })
  const shownChallenge = ({ id, status, token, error }: Order) => ({
    type: behaviour.txt ? 'dns-01' : 'http-01',
    url: `${base}/challenge/${id}`,
    token,
    status: status === 'invalid' || status === 'pending' ? status : 'valid',
    ...(error === undefined ? {} : { error }),
  })

  const post: Record<string, (asked: Asked) => Promise<Reply>> = {
    async 'new-account'({ payload, jwk }) {
      if (behaviour.limited?.test('new-account')) return problem('rateLimited', 'too many', 429)
      const { termsOfServiceAgreed, contact = [] } = payload as Record<string, never>
      if (termsOfServiceAgreed !== true) return problem('userActionRequired', 'Agree first', 403)
      if (!isBound(behaviour.bound, payload, jwk)) {
        return problem('externalAccountRequired', 'Bind it to an account', 403)
      }
      const known = [...accounts].find(([, one]) => thumbprint(one.jwk) === thumbprint(jwk))
      const url = known?.[0] ?? `${base}/account/${accounts.size + 1}`
      if (known === undefined) accounts.set(url, { jwk, contact })
      const headers = { location: url }
      return { status: known ? 200 : 201, headers, json: { status: 'valid', contact } }
    },
    async account({ payload, kid }) {
      const { contact } = payload as { contact?: string[] }
      const account = accounts.get(kid)
      if (account !== undefined && contact !== undefined) account.contact = contact
      return { json: { status: 'valid', contact: account?.contact } }
    },
    async 'new-order'({ payload, kid }) {
      const { refusal } = behaviour
      if (refusal !== undefined) {
        const { type, detail, retryAfter } = refusal
        const status = type === 'rateLimited' ? 429 : type === 'serverInternal' ? 500 : 403
        const headers: Record<string, string> =
          retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
        return { ...problem(type, detail, status), headers }
      }
      const { identifiers, replaces } = payload as {
        identifiers: { type: string; value: string }[]
        replaces?: string
      }
      const [identifier, ...more] = identifiers
      if (behaviour.limited?.test(identifier?.value ?? '')) {
        return problem('rateLimited', 'too many certificates for this domain', 429)
      }
      if (identifier?.type !== 'dns' || more.length > 0) {
        return problem('malformed', 'One name an order', 400)
      }
      const order: Order = {
        id: orders.length + 1,
        account: kid,
        name: identifier.value,
        replaces,
        status: 'pending',
        token: randomBytes(32).toString('base64url'),
        error: undefined,
        chain: '',
      }
      orders.push(order)
      const headers = { location: `${base}/order/${order.id}` }
      return { status: 201, headers, json: shown(order) }
    },
    order: async ({ order }) => ({ json: shown(order) }),
    authz: async ({ order }) => ({
      json: {
        status: shownChallenge(order).status,
        identifier: { type: 'dns', value: order.name },
        challenges: [
          { type: behaviour.txt ? 'http-01' : 'dns-01', url: '', token: 'x' },
          shownChallenge(order),
        ],
      },
    }),
    async challenge({ order }) {
      if (order.status === 'pending' && behaviour.validation === 'at once') await judge(order)
      return { json: shownChallenge(order) }
    },
    async finalize({ order, payload }) {
      const { csr } = payload as { csr: string }
      if (order.status !== 'ready') return problem('orderNotReady', 'Not ready', 403)
      const asked = await authority.namesOf(csr)
      if (asked?.join() !== order.name) return problem('badCSR', 'Another name', 400)
      const names = behaviour.certificate === 'of another name' ? ['other.test'] : [order.name]
      const isForOther = behaviour.certificate === 'of another key'
      const life = behaviour.life(now())
      order.chain = await authority.issue(csr, { names, life, isForOther })
      order.status = 'valid'
      return { json: shown(order) }
    },
    cert: async ({ order }) => ({ text: order.chain }),
  }

  const answerGet = (path: string): Reply | undefined => {
    if (path === '/directory') {
      const of = (name: string) => `${base}/${name}`
      const links = { newNonce: of('new-nonce'), newAccount: of('new-account') }
      const { renewal } = behaviour
      const more = renewal === undefined ? {} : { renewalInfo: of('renewal-info') }
      return { json: { ...links, newOrder: of('new-order'), ...more } }
    }
    if (path === '/new-nonce') return { headers: { 'replay-nonce': newNonce() } }
    if (!path.startsWith('/renewal-info/') || behaviour.renewal === undefined) return undefined
    const { beganAt, endsAt, retryAfter } = behaviour.renewal
    const suggestedWindow = { start: new Date(beganAt), end: new Date(endsAt) }
    return { headers: { 'retry-after': String(retryAfter) }, json: { suggestedWindow } }
  }
  const answerPost = async (request: IncomingMessage, path: string): Promise<Reply> => {
    if (request.headers['content-type'] !== 'application/jose+json') {
      return problem('malformed', 'Another content type', 415)
    }
    const isNew = path === '/new-account'
    const jws = readJws(await bodyOf(request), ({ kid, jwk }) =>
      isNew ? jwk : accounts.get(kid ?? '')?.jwk,
    )
    if (jws === undefined) return problem('accountDoesNotExist', 'No such account, or key', 400)
    const { header, payload, jwk } = jws
    if (header.url !== base + path) return problem('unauthorized', 'For another URL', 403)
    if (!nonces.delete(header.nonce) || behaviour.badNonces-- > 0) {
      return problem('badNonce', 'Used already', 400)
    }
    behaviour.badNonces = Math.max(0, behaviour.badNonces)
    const [, resource = '', id] = path.split('/')
    const order = orders.find((one) => one.id === Number(id) && one.account === header.kid)
    const needsOrder = !['new-account', 'new-order', 'account'].includes(resource)
    const serve = post[resource]
    if (serve === undefined || (needsOrder && order === undefined)) {
      return problem('malformed', 'No such resource', 404)
    }
    return await serve({ payload, jwk, kid: header.kid ?? '', order: order as Order })
  }
  const server = createServer({ cert: tls.cert, key: tls.key }, async (request, response) => {
    const path = request.url ?? ''
    requests.push(`${request.method} ${path}`)
    if (behaviour.fault !== undefined) return failAs(behaviour.fault, response)
    if (behaviour.hangsAt?.test(`${request.method} ${path}`)) return
    if (behaviour.failsAt?.test(`${request.method} ${path}`)) return failAs('unavailable', response)
    const reply = request.method === 'POST' ? await answerPost(request, path) : answerGet(path)
    send(response, reply ?? problem('malformed', 'No such resource', 404), newNonce())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  base = `https://${host}:${(server.address() as AddressInfo).port}`
  const made: AcmeDirectory = {
    port80: options.port80,
    url: `${base}/directory`,
    root: authority.root,
    accounts,
    requests,
    behaviour,
    get orders() {
      return orders
    },
    async decide() {
      for (const order of orders) if (order.status === 'pending') await judge(order)
    },
    forgetAccounts: () => accounts.clear(),
    forgetOrders() {
      orders = []
    },
  }
  return made
}

/** RFC 8555 §7.3.4: the account's key, signed by the key of the account elsewhere. */
function isBound(bound: Behaviour['bound'], payload: unknown, jwk: JsonWebKey): boolean {
  if (bound === undefined) return true
  const { externalAccountBinding: binding } = payload as Record<string, Record<string, string>>
  if (binding === undefined) return false
  const text = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())
  const mac = createHmac('sha256', Buffer.from(bound.hmacKey, 'base64url'))
    .update(`${binding.protected}.${binding.payload}`)
    .digest('base64url')
  const { kid, alg } = text(binding.protected)
  const isOurs = thumbprint(text(binding.payload)) === thumbprint(jwk)
  return kid === bound.kid && alg === 'HS256' && mac === binding.signature && isOurs
}

interface Asked {
  payload: unknown
  jwk: JsonWebKey
  kid: string
  order: Order
}

interface Reply {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  text?: string
}

const problem = (type: string, detail: string, status: number): Reply => ({
  status,
  json: { type: `urn:ietf:params:acme:error:${type}`, detail, status },
})

function send(response: ServerResponse, { status, headers, json, text }: Reply, nonce: string) {
  const type = text === undefined ? 'application/json' : 'application/pem-certificate-chain'
  response.writeHead(status ?? 200, { 'replay-nonce': nonce, 'content-type': type, ...headers })
  response.end(text ?? (json === undefined ? undefined : JSON.stringify(json)))
}

function failAs(fault: NonNullable<Behaviour['fault']>, response: ServerResponse): void {
  if (fault === 'unavailable') response.writeHead(503).end('<html>Maintenance</html>')
  else if (fault === 'redirect') response.writeHead(302, { location: '/elsewhere' }).end()
  else if (fault === 'endless') {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384))) {}
    }
    response.on('drain', more).on('error', () => {})
    more()
  }
}

/** RFC 8555 §8.3: asks port 80 of the name; undefined when the answer is right. */
function askChallenge(
  name: string,
  token: string,
  port: number,
  answer: string,
): Promise<object | undefined> {
  const path = `/.well-known/acme-challenge/${token}`
  const error = (type: string, detail: string) => ({
    type: `urn:ietf:params:acme:error:${type}`,
    detail,
  })
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path, headers: { host: name }, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.once('end', () => {
        const isRight = response.statusCode === 200 && text.trimEnd() === answer
        const detail = `Invalid response from http://${name}${path}: ${response.statusCode}`
        resolve(isRight ? undefined : error('unauthorized', detail))
      })
    }).once('error', ({ message }) => resolve(error('connection', message)))
  })
}

/** RFC 7638. */
function thumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
