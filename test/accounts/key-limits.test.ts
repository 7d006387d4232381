// Issue 'For developers' 2: what a key may do, over HTTP on the real appliance.
import t from 'tap'
import { createKey, type KeyLimits, keyScopes } from '../../src/accounts/index.js'
import { applianceKeyFile } from '../../src/app/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { FakeClock } from '../support/clock.js'
import { startPosthorn } from '../support/posthorn.js'

const clock = new FakeClock(Date.now())
const posthorn = await startPosthorn(t, {
  clock,
  settings: { http: { trusted_proxies: ['127.0.0.1'] } },
})
const { store, accountId } = posthorn
const key = openApplianceKey(applianceKeyFile(posthorn.dataDir))
await addDomain({ store, clock, key }, accountId, 'other.test', { trust: true })
const nobody = '01900000-0000-7000-8000-000000000000'
const mail = { to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
const from = (domain: string) => ({ ...mail, from: `Ann <a@${domain}>` })

const keyOf = async (limits: Partial<KeyLimits>) =>
  (await createKey({ store, clock }, accountId, 'limited', { limits })).key

t.test(
  'every route of the API has a scope, which its key is held to, and no other has',
  async (t) => {
    const document = (await posthorn.call('GET', '/v1/openapi.json', { key: null })).json
    const routes = new Map<string, readonly string[]>()
    for (const [path, operations] of Object.entries<object>(document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        if (operation.security?.length === 0) continue
        const route = `${method.toUpperCase()} ${path.replace(/\{([^}]+)\}/g, ':$1')}`
        routes.set(route, operation['x-key-scopes'])
      }
    }

    for (const scope of keyScopes) {
      const own = await keyOf({ scope })
      for (const [route, scopes] of routes) {
        const [method = '', path = ''] = route.split(' ')
        const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
        const asked = path.replace(/:\w+/g, nobody)
        const { status, json } = await posthorn.call(method, asked, { key: own, ...body })
        const isRefused = status === 403 && /^This key's scope is/.test(json.error)
        t.equal(isRefused, !scopes.includes(scope), `${route} with a ${scope} key`)
        if (isRefused) t.match(json, { code: 'forbidden', error: `scope is "${scope}"` })
      }
    }
  },
)

const ask = (own: string, method: string, path: string, body?: object) =>
  posthorn.call(method, path, { key: own, ...(body === undefined ? {} : { body }) })

t.test('a key of one domain sends from it alone and sees its mails alone', async (t) => {
  const own = await keyOf({ scope: 'sending', domains: ['OTHER.test'] })
  const sent = await ask(own, 'POST', '/v1/emails/send', from('other.test'))
  t.equal(sent.status, 200)
  t.equal((await ask(own, 'GET', `/v1/emails/${sent.json.id}`)).status, 200)
  for (const [path, body] of [
    ['/v1/emails/send', from('sender.test')],
    ['/v1/emails/send', { ...mail, from: 'A <a@SENDER.test>' }],
    ['/v1/emails/ussd', from('sender.test')],
  ] as const) {
    const refused = await ask(own, 'POST', path, body)
    t.match(refused, {
      status: 403,
      json: { code: 'forbidden', error: /may only send from other\.test, not from sender\.test/ },
    })
  }
  const emails = [from('other.test'), from('sender.test')]
  t.match(await ask(own, 'POST', '/v1/emails/batch', { emails }), {
    status: 422,
    json: { errors: [{ index: 1, error: /may only send from other\.test/ }] },
  })
  const scheduledAt = new Date(clock.now() + 3_600_000).toISOString()
  const foreign = await posthorn.send({ ...from('sender.test'), scheduledAt })
  t.equal((await ask(own, 'GET', `/v1/emails/${foreign.json.id}`)).status, 404)
  t.equal((await ask(own, 'DELETE', `/v1/emails/${foreign.json.id}/cancel`)).status, 404)
  const later = await ask(own, 'POST', '/v1/emails/send', {
    ...from('other.test'),
    scheduledAt,
  })
  t.equal((await ask(own, 'DELETE', `/v1/emails/${later.json.id}/cancel`)).status, 200)
})

t.test('a key of a network is good from there, behind a trusted proxy too', async (t) => {
  const networks = ['10.1.0.0/16', '2001:db8::/32', '192.0.2.7']
  const own = await keyOf({ networks })
  const by = async (address?: string) => {
    const headers: Record<string, string> = address ? { 'x-forwarded-for': address } : {}
    return await posthorn.call('GET', '/v1/topics', { key: own, headers })
  }
  for (const address of ['10.1.255.3', '2001:db8:1::5', '192.0.2.7', '::ffff:10.1.0.1']) {
    t.equal((await by(address)).status, 200, address)
  }
  // The client may write what it likes to the left of what the proxy has seen.
  for (const address of ['10.2.0.1', '2001:db9::1', '192.0.2.8', '10.1.0.1, 10.2.0.1', undefined]) {
    const { status, json, text } = await by(address)
    t.match({ status, json }, { status: 403, json: { code: 'forbidden' } }, address ?? '')
    t.notMatch(text, '10.1.0.0/16')
  }
})

t.test('a key ends at its time, without a word about why', async (t) => {
  const own = await keyOf({ expiresAt: clock.now() + 60_000 })
  t.equal((await ask(own, 'GET', '/v1/topics')).status, 200)
  await clock.advance(60_000)
  t.match(await ask(own, 'GET', '/v1/topics'), {
    status: 401,
    json: { code: 'invalid_api_key', error: 'Unauthorized' },
  })
})

t.test('limits that limit nothing, or are none, are refused', async (t) => {
  for (const [limits, field] of [
    [{ domains: ['other.test'] }, 'domains'],
    [{ scope: 'sending', domains: [] }, 'domains'],
    [{ scope: 'sending', domains: ['stranger.test'] }, 'domains'],
    [{ networks: [] }, 'networks'],
    [{ networks: ['10.0.0.0/33'] }, 'networks'],
    [{ networks: ['all'] }, 'networks'],
    [{ expiresAt: clock.now() }, 'expiresAt'],
  ] as const) {
    const refused = await keyOf(limits).catch((error: unknown) => error)
    t.match(refused, { status: 422, fields: { field } }, JSON.stringify(limits))
  }
})
