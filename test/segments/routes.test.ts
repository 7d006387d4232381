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

  const automations: Record<string, string> = {}
  for (const eventName of ['$segment.joined', '$segment.left']) {
    const filter = { field: 'trigger.segmentId', operator: 'eq', value: made.json.id }
    const steps = [
      { key: 'start', type: 'trigger', config: { eventName, filter } },
      { key: 'note', type: 'contact_update', config: { metadata: { [eventName]: true } } },
    ]
    const connections = [{ from: 'start', to: 'note', type: 'default' }]
    const one = await ask('POST', '/automations', { name: eventName, steps, connections })
    t.equal((await ask('POST', `/automations/${one.json.id}/enable`)).status, 200)
    automations[eventName] = one.json.id
  }
  const runs = async (name: string) =>
    (await ask('GET', `/automations/${automations[name]}/runs`)).json

  await ask('PATCH', path, { rule: { ...rule, value: 'Accra' } })
  await eventually(async () => (await ask('GET', path)).json.count === 1, 15_000)
  const joined = { email: 'c9@example.test', metadata: { town: 'accra' } }
  await ask('POST', `/contacts/${list.json.id}`, joined)
  await eventually(async () => (await ask('GET', path)).json.count === 2, 15_000)
  const ran = async (name: string) =>
    JSON.stringify(await runs(name)).includes('"status":"completed"')
  await eventually(() => ran('$segment.joined'), 15_000)
  const [c9] = (await ask('GET', '/contacts/all?q=c9')).json.contacts
  t.match((await ask('GET', `/contacts/all/${c9.id}`)).json.metadata, { '$segment.joined': true })
  const [c2] = (await ask('GET', '/contacts/all?q=c2')).json.contacts
  t.notMatch(
    JSON.stringify(c2.metadata),
    'segment',
    'who was found as it was filled starts nothing',
  )
  await ask('PATCH', `/contacts/all/${c9.id}`, { metadata: { town: 'Kano' } })
  await eventually(() => ran('$segment.left'), 15_000)
  await ask('PATCH', `/contacts/all/${c9.id}`, { metadata: { town: 'Accra' } })
  await eventually(async () => (await ask('GET', path)).json.count === 2, 15_000)

  const wrong = await ask('POST', '/segments', {
    name: 'None',
    rule: { field: `list.${made.json.id}`, operator: 'eq', value: true },
  })
  t.match(JSON.stringify(wrong.json), /no such list/)
  t.equal((await ask('POST', '/segments', { name: 'x', rule: { field: 'nothing' } })).status, 400)
  t.match((await ask('GET', '/segments')).json.segments, [{ name: 'Lagos', count: 2 }])
  t.equal((await ask('DELETE', path)).status, 409, 'an automation asks for it')
  for (const id of Object.values(automations)) await ask('POST', `/automations/${id}/archive`)
  // Their last runs end first.
  await eventually(async () => (await ask('DELETE', path)).status === 200, 15_000)
  t.equal((await ask('GET', path)).status, 404)
})
