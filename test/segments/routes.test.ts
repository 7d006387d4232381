import t from 'tap'
import { eventually } from '../support/eventually.js'
import { startPosthorn } from '../support/posthorn.js'

t.test('a segment is made, filled, changed and deleted by the API', async (t) => {
  const posthorn = await startPosthorn(t)
  const ask = (method: string, path: string, body?: object) =>
    posthorn.call(method, `/v1${path}`, body === undefined ? {} : { body })
  const list = await ask('POST', '/contacts/lists', { name: 'Readers' })
  for (const [n, town] of ['Lagos', 'LAGOS', 'Accra'].entries()) {
    const given = { email: `c${n}@example.test`, metadata: { town } }
    t.equal((await ask('POST', `/contacts/${list.json.id}`, given)).status, 201)
  }
  const rule = { field: 'contact.metadata.town', operator: 'eq', value: 'lagos', ignoreCase: true }
  const counted = await ask('POST', '/segments/count', { rule })
  t.match(counted.json, { count: 2, mailable: 2, unsubscribed: 0, sample: null })
  const made = await ask('POST', '/segments', { name: 'Lagos', rule })
  t.equal(made.status, 201)
  const path = `/segments/${made.json.id}`
  await ask('POST', '/suppressions', { email: 'c1@example.test' })
  await eventually(async () => {
    const { json } = await ask('GET', path)
    return json.state === 'current' && json.count === 2 && json.mailable === 1
  }, 15_000)
  const members = await ask('GET', `${path}/members?limit=1`)
  t.match(members.json, { contacts: [{ email: 'c1@example.test' }], hasMore: true })
  const next = await ask('GET', `${path}/members?cursor=${members.json.nextCursor}`)
  t.match(next.json, { contacts: [{ email: 'c0@example.test' }], hasMore: false })

  await ask('PATCH', path, { rule: { ...rule, value: 'Accra' } })
  await eventually(async () => (await ask('GET', path)).json.count === 1, 15_000)
  const joined = { email: 'c9@example.test', metadata: { town: 'accra' } }
  await ask('POST', `/contacts/${list.json.id}`, joined)
  await eventually(async () => (await ask('GET', path)).json.count === 2, 15_000)

  const wrong = await ask('POST', '/segments', {
    name: 'None',
    rule: { field: `list.${made.json.id}`, operator: 'eq', value: true },
  })
  t.match(JSON.stringify(wrong.json), /no such list/)
  t.equal((await ask('POST', '/segments', { name: 'x', rule: { field: 'nothing' } })).status, 400)
  t.match((await ask('GET', '/segments')).json.segments, [{ name: 'Lagos', count: 2 }])
  t.equal((await ask('DELETE', path)).status, 200)
  t.equal((await ask('GET', path)).status, 404)
})
