// Issue 'For developers' 2: keys by the API.
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const make = (body: object, key = posthorn.apiKey) =>
  posthorn.call('POST', '/v1/keys', { body, key })

t.test('a key that is made works at once, is shown once, and is gone at once', async (t) => {
  const { status, json } = await make({ name: ' Web shop ', scope: 'read' })
  t.match({ status, json }, { status: 201, json: { name: 'Web shop', scope: 'read' } })
  t.equal((await posthorn.call('GET', '/v1/topics', { key: json.key })).status, 200)
  const at = `/v1/keys/${json.id}`
  const shown = await posthorn.call('GET', at)
  t.notMatch(shown.text, json.key)
  t.equal(shown.json.last4, json.key.slice(-4))
  t.notMatch((await posthorn.call('GET', '/v1/keys')).text, json.key)
  t.equal((await posthorn.call('DELETE', at)).status, 200)
  t.equal((await posthorn.call('GET', '/v1/topics', { key: json.key })).status, 401)
  t.equal((await posthorn.call('DELETE', at)).status, 404)
})

t.test('a repeat with the same Idempotency-Key tells of the key without it', async (t) => {
  const headers = { 'idempotency-key': 'one-key' }
  const call = () => posthorn.call('POST', '/v1/keys', { body: { name: 'Once' }, headers })
  const first = await call()
  const second = await call()
  t.equal(second.headers.get('idempotency-replay'), 'true')
  t.match(second, { status: 201, json: { id: first.json.id, key: null } })
  const kept = await posthorn.store.read.selectFrom('idempotency_keys').select('response').execute()
  t.notMatch(JSON.stringify(kept), first.json.key)
})

t.test('no key makes one that may do more, and none lifts its own limits', async (t) => {
  const in2030 = '2030-01-01T00:00:00.000Z'
  const own = { name: 'Own', networks: ['127.0.0.0/8', '10.0.0.0/8'], expiresAt: in2030 }
  const { json: limited } = await make(own)
  const refused = [
    {},
    { networks: ['10.0.0.0/8'] },
    { networks: ['10.0.0.0/7'], expiresAt: in2030 },
    { networks: ['10.1.0.0/16', '192.0.2.1'], expiresAt: in2030 },
    { networks: 'any', expiresAt: in2030 },
    { networks: ['::/0'], expiresAt: in2030 },
    { networks: ['10.0.0.1'], expiresAt: '2030-01-01T00:00:00.001Z' },
    { networks: ['10.0.0.1'], expiresAt: 'never' },
  ]
  for (const more of refused) {
    const { status, json } = await make({ name: 'More', ...more }, limited.key)
    t.match({ status, json }, { status: 403, json: { code: 'forbidden' } }, JSON.stringify(more))
  }
  const less = { name: 'Less', networks: ['10.1.0.0/16', '127.0.0.1'], expiresAt: in2030 }
  t.equal((await make(less, limited.key)).status, 201)
  const at = `/v1/keys/${limited.id}`
  for (const body of [{ networks: 'any' }, { expiresAt: 'never' }]) {
    t.equal((await posthorn.call('PATCH', at, { body, key: limited.key })).status, 403)
  }
  // Nor does it take away, or change, one that may do more.
  const { json: mighty } = await make({ name: 'Mighty' })
  const others = [
    mighty.id,
    (await make({ name: 'Wide', networks: ['10.0.0.0/7'], expiresAt: in2030 })).json.id,
    (await make({ name: 'Long', networks: ['10.0.0.0/8'] })).json.id,
  ]
  for (const id of others) {
    const there = `/v1/keys/${id}`
    const deleted = await posthorn.call('DELETE', there, { key: limited.key })
    t.match(deleted, { status: 403, json: { code: 'forbidden' } })
    const body = { networks: ['10.0.0.1'], expiresAt: in2030 }
    const changed = await posthorn.call('PATCH', there, { body, key: limited.key })
    t.match(changed, { status: 403, json: { code: 'forbidden' } })
  }
  t.equal((await posthorn.call('GET', '/v1/keys', { key: mighty.key })).status, 200)
  t.equal((await posthorn.call('DELETE', `/v1/keys/${mighty.id}`)).status, 200, 'a full key does')
  const { id: lesser } = (await make(less)).json
  t.equal((await posthorn.call('DELETE', `/v1/keys/${lesser}`, { key: limited.key })).status, 200)
  const renamed = await posthorn.call('PATCH', at, { body: { name: 'Else' }, key: limited.key })
  t.match(renamed.json, { name: 'Else', networks: own.networks, expiresAt: in2030 })
  const free = await posthorn.call('PATCH', at, { body: { networks: 'any', expiresAt: 'never' } })
  t.match(free.json, { networks: null, expiresAt: null, name: 'Else' })
})

t.test('hostile limits are refused, and name the field', async (t) => {
  for (const [limits, status] of [
    [{ scope: 'root' }, 400],
    [{ networks: [] }, 400],
    [{ networks: Array(51).fill('10.0.0.1') }, 400],
    [{ networks: [1] }, 400],
    [{ networks: '10.0.0.0/8' }, 400],
    [{ networks: ['10.0.0.0/8\u0000'] }, 422],
    [{ networks: ['0x7f.1'] }, 422],
    [{ scope: 'sending', domains: ['sender.test\r\n'.repeat(2)] }, 422],
    [{ scope: 'read', domains: ['sender.test'] }, 422],
    [{ expiresAt: 'tomorrow' }, 400],
    [{ expiresAt: '2030-01-01' }, 400],
    [{ expiresAt: '2000-01-01T00:00:00Z' }, 422],
    [{ name: 'a\nb' }, 400],
    [{ name: 'x'.repeat(101) }, 400],
  ] as const) {
    const answer = await make({ name: 'x', ...limits })
    t.equal(answer.status, status, JSON.stringify(limits))
    if (status === 422) t.ok(answer.json.field, JSON.stringify(limits))
  }
})

t.test('a limit that is misspelt makes no key without it', async (t) => {
  const { json } = await make({ name: 'x', scope: 'read' })
  const before = (await posthorn.call('GET', '/v1/keys')).json.keys.length
  for (const limits of [{ expiry: '2030-01-01T00:00:00Z' }, { network: ['10.0.0.0/8'] }]) {
    const refused = await make({ name: 'y', ...limits })
    const [name = ''] = Object.keys(limits)
    const issue = {
      path: [name],
      code: 'unrecognized_key',
      message: /Expected no fields other than name, /,
    }
    t.match(refused, { status: 400, json: { error: { issues: [issue] } } })
    const body = { name: 'z', ...limits }
    t.equal((await posthorn.call('PATCH', `/v1/keys/${json.id}`, { body })).status, 400)
  }
  for (const body of [{}, { expiresAt: null }]) {
    t.equal((await posthorn.call('PATCH', `/v1/keys/${json.id}`, { body })).status, 400)
  }
  t.equal((await posthorn.call('GET', '/v1/keys')).json.keys.length, before)
})
