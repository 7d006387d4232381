// Issue 'What operators and developers ask' 5: the operator's API.
import { hostname } from 'node:os'
import t from 'tap'
import {
  createKey,
  createOperatorKey,
  deleteOperatorKey,
  keyScopes,
} from '../../src/accounts/index.js'
import { setSurge } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { contracts, operatorContracts } from '../../src/openapi/contract.js'
import { addPerson } from '../../src/people/index.js'
import { surgeOf } from '../support/management.js'
import { startPosthorn } from '../support/posthorn.js'
import { RawConnection } from '../support/raw-http.js'

const own = operatorContracts.flat().flatMap(({ operations }) => operations)
const others = contracts.flat().flatMap(({ operations }) => operations)

const anyId = '01a1fc92-0000-7000-8000-0a1b2c3d4e5f'
const asked = ({ route }: { route: string }) => {
  const [method = '', path = ''] = route.split(' ')
  return [method, path.replace('site-orders/:id', 'site-orders/1').replace(/:\w+/g, anyId)] as const
}

const env = { POSTHORN_HTTP_PRIVATE_OPERATOR_API: 'true' }
const posthorn = await startPosthorn(t, { env })
const { store } = posthorn
const deps = { store, clock: systemClock }
const made = await createOperatorKey(deps, { name: 'Billing', networks: null, expiresAt: null })
const call = (method: string, path: string, body?: object, headers = {}) =>
  posthorn.call(method, path, { key: made.key, headers, ...(body && { body }) })
const atAccount = `/v1/operator/accounts/${posthorn.accountId}`

t.test('no kind of key opens what the other kind opens', async (t) => {
  const keys = await Promise.all(
    keyScopes.map((scope) => createKey(deps, posthorn.accountId, scope, { limits: { scope } })),
  )
  const gone = await createOperatorKey(deps, { name: 'Gone', networks: null, expiresAt: null })
  await deleteOperatorKey(deps, gone.id)
  const over = await createOperatorKey(deps, { name: 'Over', networks: null, expiresAt: 1 })
  const far = await createOperatorKey(deps, {
    name: 'Far',
    networks: ['192.0.2.0/24'],
    expiresAt: null,
  })
  for (const operation of own) {
    const [method, path] = asked(operation)
    const statusOf = async (key: string | null) =>
      (await posthorn.call(method, path, { key, ...(method !== 'GET' && { body: {} }) })).status
    t.equal(operation.may, 'operator', operation.route)
    for (const { key, scope } of keys) t.equal(await statusOf(key), 401, `${path} ${scope}`)
    for (const key of [gone.key, over.key, null]) t.equal(await statusOf(key), 401, path)
    t.equal(await statusOf(far.key), 403, path)
    t.notOk([401, 403].includes(await statusOf(made.key)), `${operation.route} knows the key`)
    const outside = await fetch(`${posthorn.publicUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${made.key}` },
    })
    t.equal(outside.status, 404, `${path} is nowhere on the public listener`)
    await outside.arrayBuffer()
  }
  for (const operation of others.filter(({ may }) => may !== 'public')) {
    const [method, path] = asked(operation)
    const answer = await posthorn.call(method, path, { key: made.key })
    t.equal(answer.status, 401, operation.route)
  }
})

t.test('it is called by its own names alone, as the pages are', async (t) => {
  const { port } = new URL(posthorn.url)
  const answerTo = async (host: string, path = '/v1/operator/queue') => {
    const connection = await RawConnection.open(Number(port))
    const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${made.key}`]
    connection.write(`${head.join('\r\n')}\r\n\r\n`)
    const answer = await connection.response()
    await connection.destroy()
    return answer
  }
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, hostname(), '[::1]']) {
    t.equal((await answerTo(host))?.status, 200, host)
  }
  const rebound = await answerTo('rebound.example:80')
  t.equal(rebound?.status, 421)
  t.match(JSON.parse(`${rebound?.body}`), {
    code: 'forbidden',
    error: /not known as "rebound.example": .* allowed_hosts in \[http.private\]/,
  })
  // Programs that send mail may call it by any name: what they have is a key alone.
  t.equal((await answerTo('posthorn', '/v1/openapi.json'))?.status, 200)
})

t.test('an account is made, gets an owner and a key, and sends', async (t) => {
  const headers = { 'idempotency-key': 'order-1' }
  const first = await call('POST', '/v1/operator/accounts', { name: 'City' }, headers)
  const again = await call('POST', '/v1/operator/accounts', { name: 'City' }, headers)
  t.match(first, { status: 201, json: { name: 'City', billingState: 'active' } })
  t.match(again, { status: 201, json: { id: first.json.id } })
  t.equal(again.headers.get('idempotency-replay'), 'true')
  const at = `/v1/operator/accounts/${first.json.id}`
  t.equal((await call('POST', '/v1/operator/accounts', { name: 'City' })).status, 422)
  const invited = await call('POST', `${at}/invitations`, { email: 'o@city.test', role: 'owner' })
  t.match(invited, { status: 201, json: { path: /^\/invite\/./ } })
  t.equal((await fetch(`${posthorn.url}${invited.json.path}`)).status, 200)
  const people = await call('GET', `${at}/people`)
  t.match(people.json, { people: [], invitations: [{ email: 'o@city.test' }] })
  const withdrawn = await call('DELETE', `${at}/invitations/${invited.json.id}`)
  t.equal(withdrawn.status, 200)
  const key = await call('POST', `${at}/keys`, { name: 'Shop' }, { 'idempotency-key': 'key-1' })
  t.equal((await posthorn.call('GET', '/v1/topics', { key: key.json.key })).status, 200)
  const told = await call('POST', `${at}/keys`, { name: 'Shop' }, { 'idempotency-key': 'key-1' })
  t.match(told.json, { id: key.json.id, key: null })
  t.match((await call('GET', `${at}/keys`)).json, { keys: [{ name: 'Shop' }] })
  t.equal((await call('DELETE', `${at}/keys/${key.json.id}`)).status, 200)
  t.equal((await posthorn.call('GET', '/v1/topics', { key: key.json.key })).status, 401)
  const kept = await store.read.selectFrom('idempotency_keys').select('response').execute()
  t.notMatch(JSON.stringify(kept), key.json.key)
  const { json: page } = await call('GET', '/v1/operator/accounts?limit=1')
  const next = await call('GET', `/v1/operator/accounts?limit=1&cursor=${page.nextCursor}`)
  t.match([page, next.json], [{ hasMore: true }, { accounts: [{ name: 'City' }], hasMore: false }])
})

t.test('plans, states, a suspension and a pause hold at once', async (t) => {
  const { json: all } = await call('GET', '/v1/operator/plans')
  const { name: plan } = all.plans[1]
  const { name: marketingPlan } = all.marketingPlans[0]
  const changed = await call('PATCH', atAccount, { name: 'Library', plan, marketingPlan })
  t.match(changed.json, { name: 'Library', plan, marketingPlan })
  t.match((await call('PATCH', atAccount, { marketingPlan: 'none' })).json, { marketingPlan: null })
  t.match(await call('PATCH', atAccount, { plan: 'Gold' }), {
    status: 422,
    json: { field: 'plan' },
  })
  t.match(await call('PATCH', atAccount, { marketingPlan: 'Gold' }), {
    status: 422,
    json: { field: 'marketingPlan' },
  })
  t.match((await call('PATCH', atAccount, { billingState: 'expired' })).json, {
    billingState: 'expired',
  })
  const mail = { from: 'a@sender.test', to: 'b@example.org', subject: 'Hi', html: 'Hi' }
  t.equal((await posthorn.send(mail)).status, 403)
  await call('PATCH', atAccount, { billingState: 'active' })
  await call('POST', `${atAccount}/suspend`, { reason: 'ticket 7' })
  t.match(await posthorn.send(mail), { status: 403, json: { code: 'account_suspended' } })
  t.match((await call('POST', `${atAccount}/unsuspend`)).json, { suspended: null })
  const pause = { reason: 'bounce', note: 'ticket 9' }
  t.match((await call('POST', `${atAccount}/pause`, pause)).json, { paused: 'bounce' })
  t.match(await call('POST', `${atAccount}/pause`, pause), { status: 409 })
  t.match(await posthorn.send(mail), { status: 503, json: { code: 'account_paused' } })
  t.match((await call('POST', `${atAccount}/unpause`, { note: 'cleaned' })).json, { paused: null })
  t.match(await call('POST', `${atAccount}/unpause`, { note: 'cleaned' }), { status: 409 })
  t.equal((await posthorn.send(mail)).status, 200)
  const rows = await store.read.selectFrom('protection_audit').select('who').execute()
  t.ok(rows.every(({ who }) => /operator's key Billing/.test(who ?? '')))
})

t.test('a key disables people, but no operator', async (t) => {
  const { accountId } = posthorn
  const add = (email: string, isOperator: boolean) =>
    addPerson(deps, { email, name: email, isOperator, membership: { accountId, role: 'owner' } })
  const { person } = await add('owner@city.test', false)
  const { person: boss } = await add('boss@city.test', true)
  const at = `/v1/operator/people/${person.id}`
  t.match((await call('POST', `${at}/disable`)).json, { isDisabled: true })
  t.match((await call('GET', at)).json, { isDisabled: true, accounts: 1 })
  t.match((await call('POST', `${at}/enable`)).json, { isDisabled: false })
  t.equal((await call('POST', `/v1/operator/people/${boss.id}/disable`)).status, 403)
  const { json } = await call('GET', '/v1/operator/people?q=boss')
  t.match(json, { people: [{ email: 'boss@city.test', isOperator: true }], hasMore: false })
  t.equal((await call('DELETE', `${atAccount}/people/${boss.id}`)).status, 200)
  t.match(await call('DELETE', `${atAccount}/people/${person.id}`), { status: 409 })
})

t.test('mail is held, released and given up; a site waits', async (t) => {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const mail = { from: 'a@sender.test', to: 'b@later.test', subject: 'Hi', html: 'Hi', scheduledAt }
  const { json: sent } = await posthorn.send(mail)
  t.match(await call('POST', '/v1/operator/queue/hold', {}), { status: 422 })
  const domain = 'later.test'
  t.match((await call('POST', '/v1/operator/queue/hold', { domain })).json, {
    changed: 1,
    isAll: true,
    next: null,
  })
  t.match((await call('GET', '/v1/operator/queue')).json, { held: { deliveries: 1 } })
  t.match(await call('POST', '/v1/operator/queue/fail', { domain }), { status: 422 })
  t.match((await call('POST', '/v1/operator/queue/release', { domain })).json, { changed: 1 })
  t.match((await call('POST', '/v1/operator/queue/retry', { domain })).json, { unchanged: 1 })
  t.match((await call('POST', '/v1/operator/queue/fail', { domain, reason: 'no' })).json, {
    changed: 1,
  })
  t.equal((await posthorn.email(sent.id)).status, 'failed')

  const order = { site: 'Example.ORG', seconds: 7_200, why: 'they asked' }
  const ordered = await call('POST', '/v1/operator/site-orders', order)
  t.match(ordered, { status: 201, json: { site: 'example.org', order: 'hold' } })
  t.match((await call('GET', '/v1/operator/site-orders')).json, { orders: [ordered.json] })
  const at = `/v1/operator/site-orders/${ordered.json.id}`
  const noSite = await call('POST', '/v1/operator/site-orders', { ...order, site: 'exa mple' })
  t.match(noSite, { status: 422, json: { field: 'site' } })
  t.match(JSON.stringify(noSite.json), /a provider of shaping.toml \(.*google/)
  const noId = await call('POST', '/v1/operator/queue/hold', { emailId: 'x' })
  t.equal(noId.status, 400)
  t.match(JSON.stringify(noId.json), /emailId.*a UUID/)
  t.match(await call('DELETE', at), { status: 200, json: { id: ordered.json.id } })
  t.equal((await call('DELETE', at)).status, 404)
  const moved = await call('POST', '/v1/operator/site-orders', { ...order, pool: 'none' })
  t.match(moved, { status: 422, json: { field: 'pool' } })

  const id = await surgeOf({ store, accountId: posthorn.accountId })
  await store.write((tx) => setSurge(tx, posthorn.accountId, { surgeId: id }))
  t.match((await call('GET', '/v1/operator/surges')).json, { surges: [{ surge: { id } }] })
  const decided = await call('POST', `/v1/operator/surges/${id}/fail`)
  t.match(decided.json, { surge: { decision: 'failed', decidedBy: /key Billing/ } })
  t.equal((await call('POST', `/v1/operator/surges/${id}/release`)).status, 409)
})

t.test(
  'each change, and the first look of an hour, is in the audit log with the key',
  async (t) => {
    await call('GET', atAccount)
    await call('GET', atAccount)
    const rows = await store.read
      .selectFrom('audit_log')
      .select(['action', 'name', 'account_id', 'target', 'detail'])
      .where('actor', '=', 'api')
      .execute()
    t.ok(rows.every(({ name }) => name.startsWith("operator's key Billing (…")))
    const actions = new Set(rows.map(({ action }) => action))
    const changes = own.flatMap(({ audit }) => audit ?? [])
    t.same(
      changes.filter((one) => !actions.has(one) && one !== 'surge.release'),
      [],
    )
    const looks = rows.filter(
      ({ action, detail, target }) =>
        action === 'operator.look' &&
        target === posthorn.accountId &&
        JSON.parse(detail).operation === 'getAccount',
    )
    t.equal(looks.length, 1)
    const said = rows.map(({ action, target, detail }) => `${action} ${target} ${detail}`)
    for (const line of [
      /^account.create .*"name":"City","plan":"Free"/,
      /^account.change .*"name":".* → Library"/,
      /^account.change .*"marketingPlan":".* → none"/,
      /^account.change .*"billingState":"active → expired"/,
      /^account.suspend .*"reason":"ticket 7"/,
      /^account.pause .*"reason":"bounce","marketing":false,"note":"ticket 9"/,
      /^account.unpause .*"note":"cleaned"/,
      /^team.invite o@city.test .*"role":"owner"/,
      /^team.revoke-invitation o@city.test /,
      /^key.create .*"name":"Shop","scope":"full"/,
      /^key.delete .*"name":"Shop","scope":"full"/,
      /^user.disable owner@city.test /,
      /^user.enable owner@city.test /,
      /^team.remove boss@city.test /,
      /^queue.hold .*"domain":"later.test","changed":1/,
      /^queue.fail .*"domain":"later.test","reason":"no"/,
      /^site.hold example.org .*"for":"2h","why":"they asked"/,
      /^site.release example.org .*"why":"they asked"/,
    ]) {
      t.ok(
        said.some((one) => line.test(one)),
        `${line}`,
      )
    }
    t.equal(looks[0]?.account_id, posthorn.accountId)
    t.notMatch(JSON.stringify(rows), made.key)
  },
)

t.test('the document tells of it where it is on; off, there is nothing', async (t) => {
  const { json: document } = await posthorn.call('GET', '/v1/openapi.json', { key: null })
  t.same(document.paths['/v1/operator/queue'].get['x-key-scopes'], ['operator'])
  const off = await startPosthorn(t)
  const key = await createOperatorKey(
    { store: off.store, clock: systemClock },
    { name: 'Early', networks: null, expiresAt: null },
  )
  for (const path of ['/v1/operator/queue', '/v1/operator/accounts']) {
    t.equal(
      (await fetch(`${off.url}${path}`, { headers: { authorization: `Bearer ${key.key}` } }))
        .status,
      404,
    )
  }
  const { json } = await off.call('GET', '/v1/openapi.json', { key: null })
  t.notMatch(Object.keys(json.paths).join(), '/v1/operator')
})
