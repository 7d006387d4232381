import t, { type Test } from 'tap'
import { findPlan, setPlan } from '../../../src/billing/index.js'
import { systemClock as clock } from '../../../src/clock/index.js'
import { webhookPages } from '../../../src/dashboard/webhooks/routes.js'
import {
  addEndpoint,
  findEndpoint,
  listEndpoints,
  readDeliveries,
  webhookEvents,
} from '../../../src/webhooks/index.js'
import { makeWebhookTrials } from '../../../src/webhooks/routes.js'
import { verifyWebhook } from '../../../src/webhooks/verify.js'
import { openReceiver } from '../../support/receiver.js'
import { fakeResolver } from '../../support/resolver.js'
import { key, plans } from '../../support/webhooks.js'
import { hidden, hostile, isTame, startAccountPages, type Who } from '../account-pages.js'

const url = 'https://app.example.com/hooks'
const mail = '01900000-0000-7000-8000-000000000000'

async function open(t: Test) {
  const resolver = fakeResolver({ 'app.example.com': { a: ['8.8.8.8'] } })
  const rig = await startAccountPages(t, ({ account }, { store }) => {
    const openResolver = () => resolver
    const deps = { store, clock, key, plans, openResolver, allow: ['127.0.0.0/8'] }
    webhookPages(account, { ...deps, tryWebhook: makeWebhookTrials(deps) })
  })
  const { store, accountId, get, post } = rig
  let number = 0
  return {
    ...rig,
    endpoints: () => listEndpoints(store.read, accountId),
    endpoint: (id: string) => findEndpoint(store.read, accountId, id),
    add: (to = url) =>
      addEndpoint({ store, clock, key }, plans, accountId, { url: to, events: webhookEvents }),
    /** Something that went there, the next number each time. */
    async went(endpoint_id: string, more: object = {}) {
      const id = ++number
      const body = JSON.stringify({ event: 'email.bounced', emailId: mail, subject: hostile })
      const row = { id, endpoint_id, account_id: accountId, email_id: mail, body, attempts: 5 }
      const answer = {
        outcome: 'failed',
        status: 500,
        response: hostile,
        error: 'HTTP 500',
      } as const
      const at = { created_at: clock.now() - 60_000, ended_at: clock.now() }
      await store.write((tx) =>
        tx
          .insertInto('webhook_deliveries')
          .values({ event: 'email.bounced', ...row, ...answer, ...at, ...more })
          .execute(),
      )
      return id
    },
    waiting: async (id: string) =>
      (await readDeliveries(store.read, accountId, id, { failed: false, limit: 100 })).filter(
        ({ outcome }) => outcome === 'waiting',
      ),
    async create(form: Record<string, string | string[]>) {
      const once = hidden(await get('/webhooks/new'), 'once')
      return { once, got: await post('/webhooks/new', { ...form, once }) }
    },
  }
}

t.test('a webhook is made, its secret shown once and in no page afterwards', async (t) => {
  const { create, endpoints, get, post, noted } = await open(t)
  const form = { url, events: ['email.bounced', 'email.complained'] }
  const { once, got } = await create(form)
  t.equal(got.status, 200)
  t.equal(got.headers.get('cache-control'), 'no-store')
  const [secret = ''] = /whsec_[A-Za-z0-9_-]{43}/.exec(got.text) ?? []
  t.ok(secret)
  const [made, ...more] = await endpoints()
  t.strictSame(more, [])
  t.match(made, { url, events: form.events, enabled: true })
  t.match(noted, [{ action: 'webhook.create', target: made?.id, detail: { url } }])
  t.notMatch(JSON.stringify(noted), secret)
  const again = await post('/webhooks/new', { ...form, once })
  t.equal(again.status, 422, 'a reload of the answer')
  t.match(again.text, /made already and shown once/)
  t.equal((await endpoints()).length, 1)
  for (const path of ['', '/new', `/${made?.id}`, `/${made?.id}/settings`]) {
    const page = await get(`/webhooks${path}`)
    t.equal(page.status, 200, path)
    t.notMatch(page.text, secret, path)
  }
})

t.test('what cannot be a webhook comes again with what was typed', async (t) => {
  const { create, endpoints, noted } = await open(t)
  for (const [form, words] of [
    [{ url: 'ftp://app.example.com', events: ['email.sent'] }, /not a URL for a webhook endpoint/],
    [{ url: 'https://10.0.0.1/hooks', events: ['email.sent'] }, /not at a public address/],
    [{ url, events: [] }, /Events to send: Choose at least one/],
    [{ url, events: ['email.eaten'] }, /Number 1: Choose one of those that are offered/],
    [{ url: hostile, events: ['email.sent'] }, /not a URL for a webhook endpoint/],
  ] as const) {
    const { got } = await create({ url: form.url, events: [...form.events] })
    t.equal(got.status, 422, JSON.stringify(form))
    t.match(got.text, words)
    isTame(t, got, form.url)
    if (form.url !== hostile) t.match(got.text, `value="${form.url}"`)
  }
  t.strictSame(await endpoints(), [])
  t.strictSame(noted, [])
})

t.test('a plan without webhooks says so, and makes none', async (t) => {
  const { store, accountId, get, create, endpoints } = await open(t)
  await store.write((tx) => setPlan(tx, accountId, findPlan(plans.email, 'free')))
  const page = await get('/webhooks')
  t.match(page.text, /Your plan Free has no webhooks\. The operator of this server gives plans/)
  t.notMatch(page.text, /Create a webhook/)
  const { got } = await create({ url, events: ['email.sent'] })
  t.equal(got.status, 422)
  t.match(got.text, /The plan Free has no webhooks/)
  t.strictSame(await endpoints(), [])
})

t.test(
  'an endpoint shows what went there, why it fails, and each request with its answer',
  async (t) => {
    const { add, went, get } = await open(t)
    const { id } = await add()
    await went(id, { outcome: 'delivered', status: 200, error: null, response: 'ok', attempts: 1 })
    const failed = await went(id, { status: 401, error: 'HTTP 401' })
    const page = await get(`/webhooks/${id}`, 'member')
    t.match(page.text, /Why.*verify the signature with the secret.*HTTP 401/s)
    t.match(page.text, /failed.*delivered/s, 'the newest first')
    t.notMatch(page.text, /Send a test event|Settings/, 'a member only looks')
    const only = await get(`/webhooks/${id}?show=failed`)
    t.notMatch(only.text, /chip good">delivered/)
    const one = await get(`/webhooks/${id}/deliveries/${failed}`)
    t.equal(one.status, 200)
    t.match(one.text, `POST ${url}`)
    t.match(one.text, /&quot;event&quot;: &quot;email\.bounced&quot;/)
    t.match(one.text, /HTTP 401.*&lt;img src=x/s)
    t.match(one.text, `/emails/${mail}`)
    for (const got of [page, only, one]) isTame(t, got, 'subject and answer')
    const dropped = await went(id, { outcome: 'dropped', attempts: 4, status: null, error: 'late' })
    t.match((await get(`/webhooks/${id}/deliveries/${dropped}`)).text, 'set aside after 4 attempts')
    const tabs = async (path: string) =>
      /<nav class="tabs"[\s\S]*?<\/nav>/
        .exec((await get(path)).text)?.[0]
        .replace(/ aria-current="page"/, '')
    t.equal(
      await tabs(`/webhooks/${id}`),
      await tabs(`/webhooks/${id}/settings`),
      'one set of tabs',
    )
    for (const wrong of ['99', 'x', '0x1']) {
      t.equal((await get(`/webhooks/${id}/deliveries/${wrong}`)).status, 404, wrong)
    }
  },
)

t.test('one request, a range, or all that failed is queued again', async (t) => {
  const { store, accountId, add, went, post, follow, waiting, noted } = await open(t)
  const { id } = await add()
  const other = await add('https://app.example.com/other')
  for (let made = 0; made < 4; made++) await went(id)
  await went(id, { outcome: 'delivered', status: 200, error: null })
  await went(other.id)
  const replay = (form: Record<string, string>) => post(`/webhooks/${id}/replay`, form)

  t.match((await follow(await replay({ from: '5', to: '5' }))).text, /1 request queued again/)
  t.equal((await waiting(id)).length, 1, 'one that arrived too')
  t.match((await follow(await replay({ from: '4', to: '6', failedOnly: 'on' }))).text, /1 request/)
  t.match((await follow(await replay({ from: '1', to: '2' }))).text, /2 requests/)
  t.match((await follow(await replay({}))).text, /3 requests queued again/, 'all that failed')
  t.match((await follow(await replay({}))).text, /Nothing is to be sent again/)
  t.equal((await waiting(id)).length, 7)
  t.strictSame(await waiting(other.id), [], 'of no other endpoint')
  t.match(noted[0], { action: 'webhook.replay', detail: { from: '5', queued: 1 } })
  const [first] = await waiting(id)
  t.match(await readDeliveries(store.read, accountId, id, { failed: false, limit: 1 }), [
    first ?? {},
  ])

  t.equal((await replay({ from: 'x', to: '2' })).status, 422)
  await post(`/webhooks/${id}/disable`)
  const refused = await replay({ from: '1', to: '2' })
  t.equal(refused.status, 422)
  t.match(refused.text, /The webhook endpoint is disabled/)
})

t.test('a test event goes to the server, signed, and its answer is shown as text', async (t) => {
  const { add, post, noted } = await open(t)
  const receiver = await openReceiver(t)
  const { id, secret } = await add(receiver.url)
  const taken = await post(`/webhooks/${id}/test`)
  t.match(taken.text, /took the test event.*HTTP 200/s)
  const [received] = receiver.received
  const signature = received?.headers['svc-signature']
  t.ok(verifyWebhook(received?.body ?? '', String(signature), secret))
  receiver.script = (_, response) => {
    response.writeHead(403, { 'content-type': 'text/html' }).end(hostile)
    return undefined
  }
  const refused = await post(`/webhooks/${id}/test`)
  t.match(refused.text, /did not take the test event.*verify the signature.*HTTP 403.*&lt;img/s)
  isTame(t, refused, 'the answer')
  t.match(noted, [{ detail: { taken: true } }, { detail: { taken: false } }])
  for (let trial = 2; trial < 10; trial++) await post(`/webhooks/${id}/test`)
  const many = await post(`/webhooks/${id}/test`)
  t.equal(many.status, 429, 'ten a minute')
})

t.test('URL and events change; a secret is rotated once, and the old one signs on', async (t) => {
  const { add, get, post, follow, endpoint, noted } = await open(t)
  const { id, secret } = await add()
  const settings = `/webhooks/${id}/settings`
  const to = 'https://app.example.com/new'
  const changed = await post(settings, { url: to, events: ['email.clicked'] })
  t.match((await follow(changed)).text, /Saved/)
  t.match(await endpoint(id), { url: to, events: ['email.clicked'] })
  const wrong = await post(settings, { url: 'http://app.example.com/', events: ['email.clicked'] })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /value="http:\/\/app\.example\.com\/"/)

  const once = hidden(await get(settings), 'once')
  const rotated = await post(`/webhooks/${id}/rotate`, { overlap: '3600', once })
  const [fresh = ''] = /whsec_[A-Za-z0-9_-]{43}/.exec(rotated.text) ?? []
  t.ok(fresh)
  t.not(fresh, secret)
  t.match(rotated.text, /signs too until/)
  const until = (await endpoint(id)).oldSecretUntil
  const again = await post(`/webhooks/${id}/rotate`, { overlap: '0', once })
  t.match(again.text, /made already and shown once/)
  t.equal((await endpoint(id)).oldSecretUntil, until)
  t.notMatch((await get(settings)).text, fresh)
  t.strictSame(
    noted.map(({ action }) => action),
    ['webhook.change', 'webhook.rotate'],
  )
  t.notMatch(JSON.stringify(noted), fresh)
})

t.test('it is disabled, enabled and deleted, after the page has told what goes', async (t) => {
  const { accountId, add, went, get, post, follow, endpoint, endpoints } = await open(t)
  const { id } = await add()
  await went(id)
  t.match((await get(`/webhooks/${id}/settings`)).text, /the log of 1 request goes/)
  t.match((await follow(await post(`/webhooks/${id}/disable`))).text, /disabled: by the account/)
  t.match((await get(`/webhooks/${id}`)).text, `action="/a/${accountId}/webhooks/${id}/enable"`)
  t.equal((await endpoint(id)).enabled, false)
  await post(`/webhooks/${id}/enable`)
  t.equal((await endpoint(id)).enabled, true)
  t.match((await follow(await post(`/webhooks/${id}/delete`))).text, /is deleted/)
  t.strictSame(await endpoints(), [])
  t.equal((await get(`/webhooks/${id}`)).status, 404)
})

t.test(
  'owners alone change webhooks, secrets after their factor; others get nothing',
  async (t) => {
    const { add, went, get, post, endSudo, endpoint, otherId } = await open(t)
    const { id } = await add()
    await went(id)
    const statuses = async (path: string) => {
      const all: Record<string, number> = {}
      for (const who of ['owner', 'member', 'operator', 'viewer', 'stranger', 'nobody'] as Who[]) {
        all[who] = (await get(path, who)).status
      }
      return all
    }
    const outside = { viewer: 403, stranger: 404, nobody: 303 }
    const reading = { owner: 200, member: 200, operator: 200, ...outside }
    const writing = { owner: 200, member: 403, operator: 403, ...outside }
    for (const path of ['', `/${id}`, `/${id}/deliveries/1`]) {
      t.strictSame(await statuses(`/webhooks${path}`), reading, path)
    }
    for (const path of ['/new', `/${id}/settings`]) {
      t.strictSame(await statuses(`/webhooks${path}`), writing, path)
    }
    for (const path of [`/${id}`, `/${id}/settings`, `/${id}/deliveries/1`]) {
      t.equal((await get(`/a/${otherId}/webhooks${path}`, 'stranger')).status, 404)
    }
    const secret = ['/new', `/${id}/settings`, `/${id}/rotate`, `/${id}/disable`, `/${id}/delete`]
    const form = { url, events: ['email.sent'], once: crypto.randomUUID(), overlap: '0' }
    for (const path of [...secret, `/${id}/test`, `/${id}/replay`]) {
      for (const who of ['member', 'operator', 'viewer'] as Who[]) {
        t.equal((await post(`/webhooks${path}`, form, who)).status, 403, `${who} ${path}`)
      }
      t.equal((await post(`/webhooks${path}`, form, 'stranger')).status, 404)
    }
    endSudo()
    for (const path of secret) {
      t.match((await post(`/webhooks${path}`, form)).location, /^\/sudo\/ask\?/, path)
    }
    t.match(await endpoint(id), { enabled: true, url })
  },
)

t.test('many deliveries are pages within the bytes of a page', async (t) => {
  const { add, went, get } = await open(t)
  const { id } = await add()
  for (let made = 0; made < 55; made++)
    await went(id, { error: `${hostile} `.repeat(20), status: null })
  const first = await get(`/webhooks/${id}`)
  t.ok(first.text.length < 60_000, `${first.text.length} bytes`)
  t.match(first.text, /deliveries\/55".*deliveries\/6"/s)
  t.notMatch(first.text, /deliveries\/5"/)
  const [, older = ''] = /href="([^"]*after=[^"]*)"/.exec(first.text) ?? []
  const second = await get(older)
  t.match(second.text, /deliveries\/5".*deliveries\/1"/s)
  t.notMatch(second.text, /deliveries\/6"/)
  isTame(t, first, 'errors')
})
