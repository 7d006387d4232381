// Issue 39 B2: how many of each kind an account may have.
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t, {
  settings: {
    ceilings: {
      topics: 2,
      lists: 2,
      keys: 3,
      templates: 2,
      webhook_endpoints: 2,
      automations: 2,
      domains: 2,
    },
    webhooks: { allow: ['127.0.0.1'] },
  },
})
const steps = [
  { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
  { key: 'end', type: 'exit', config: {} },
]
const connections = [{ from: 'start', to: 'end', type: 'default' }]

// `there` are those that the account has from the start.
const kinds = [
  { path: '/v1/topics', body: (i: number) => ({ name: `Topic ${i}` }), most: 2, there: 0 },
  { path: '/v1/contacts/lists', body: (i: number) => ({ name: `List ${i}` }), most: 2, there: 0 },
  { path: '/v1/keys', body: (i: number) => ({ name: `Key ${i}` }), most: 3, there: 1 },
  {
    path: '/v1/templates',
    body: (i: number) => ({ slug: `t${i}`, subject: 'Hi', html: '<p>Hi</p>' }),
    most: 2,
    there: 0,
  },
  {
    path: '/v1/webhooks',
    body: (i: number) => ({ url: `https://127.0.0.1:1/${i}` }),
    most: 2,
    there: 0,
  },
  {
    path: '/v1/automations',
    body: (i: number) => ({ name: `A ${i}`, steps, connections }),
    most: 2,
    there: 0,
  },
  { path: '/v1/domains', body: (i: number) => ({ name: `d${i}.test` }), most: 2, there: 1 },
]

t.test('one more than the ceiling is a 403, and room that is made may be used again', async (t) => {
  for (const { path, body, most, there } of kinds) {
    const add = (i: number) => posthorn.call('POST', path, { body: body(i) })
    const made: { id?: string; slug?: string }[] = []
    // Two at once for the last place: the count is taken in the write.
    for (let i = there; i < most - 1; i++) made.push((await add(i)).json)
    const both = await Promise.all([add(100), add(101)])
    t.same(both.map(({ status }) => status).toSorted(), [201, 403], path)
    const refused = both.find(({ status }) => status === 403)
    t.match(refused?.json, { code: 'plan_limit_exceeded', error: /may have no more/ }, path)
    t.equal((await add(102)).status, 403, `${path} again`)
    const last = both.find(({ status }) => status === 201)?.json
    const id = last.slug ?? last.id
    // A topic is archived and never deleted, and an automation is archived for good.
    if (path === '/v1/topics') continue
    const [method, gone] =
      path === '/v1/automations' ? ['POST', `${path}/${id}/archive`] : ['DELETE', `${path}/${id}`]
    t.equal((await posthorn.call(method, gone)).status, 200, gone)
    t.equal((await add(103)).status, 201, `${path} after one was deleted`)
  }
})

t.test('a template at the ceiling is saved again, and an archived topic is restored', async (t) => {
  const { templates } = (await posthorn.call('GET', '/v1/templates')).json
  const change = { body: { subject: 'Hello' } }
  const saved = await posthorn.call('PATCH', `/v1/templates/${templates[0].slug}`, change)
  t.equal(saved.status, 200)
  const [topic] = (await posthorn.call('GET', '/v1/topics')).json.topics
  await posthorn.call('DELETE', `/v1/topics/${topic.id}`)
  const other = { body: { name: 'A new one' } }
  t.equal((await posthorn.call('POST', '/v1/topics', other)).status, 403, 'it counts')
  const again = { body: { name: 'A new one', archived: false } }
  t.equal((await posthorn.call('PATCH', `/v1/topics/${topic.id}`, again)).status, 200)
})

t.test('another account has ceilings of its own', async (t) => {
  const { apiKey } = await posthorn.addAccount('Other')
  const body = { name: 'News' }
  t.equal((await posthorn.call('POST', '/v1/topics', { key: apiKey, body })).status, 201)
})
