// An automation that is started for one contact, by the API and on their page.
import t from 'tap'
import { suppress } from '../../src/suppression/index.js'
import { eventually } from '../support/eventually.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'

t.test('an automation is started for one contact', async (t) => {
  const posthorn = await startPosthorn(t)
  const { store, accountId, call } = posthorn
  const list = (await call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })).json.id
  const add = async (email: string): Promise<string> =>
    (await call('POST', `/v1/contacts/${list}`, { body: { email } })).json.id
  const steps = [
    { key: 'start', type: 'trigger', config: { eventName: 'signed.up', reentry: 'once' } },
    { key: 'mark', type: 'contact_update', config: { metadata: { went: 'through' } } },
  ]
  const connections = [{ from: 'start', to: 'mark', type: 'default' }]
  const body = { name: 'Welcome', steps, connections }
  const { id } = (await call('POST', '/v1/automations', { body })).json
  const start = (contactId: string) =>
    call('POST', `/v1/automations/${id}/runs`, { body: { contactId } })
  const wentThrough = (contactId: string) =>
    eventually(async () => {
      const { metadata } = (await call('GET', `/v1/contacts/all/${contactId}`)).json
      return metadata.went === 'through'
    }, 15_000)

  const ann = await add('ann@reader.test')
  t.match([(await start(ann)).status, (await start(ann)).text], [422, /only an enabled automation/])
  await call('POST', `/v1/automations/${id}/enable`)
  const began = await start(ann)
  t.match([began.status, began.json.status], [201, 'running'])
  await wentThrough(ann)
  t.match((await start(ann)).json, { code: 'conflict', reason: 'already_entered' })
  const gone = { email: 'left@reader.test', reason: 'complaint', detail: null } as const
  const left = await add(gone.email)
  await store.write((tx) => suppress(tx, accountId, gone, Date.now()))
  t.match((await start(left)).json, { reason: 'suppressed', error: /Nothing is sent to them/ })

  const owner = await logIn(posthorn, accountId, 'owner')
  const bob = await add('bob@reader.test')
  const page = `/a/${accountId}/contacts/${bob}`
  t.match((await owner.get(page)).text, /Start an automation[\s\S]*>Welcome</)
  t.equal((await owner.post(`${page}/start`, { automation: id })).status, 303)
  await wentThrough(bob)
  const again = await owner.post(`${page}/start`, { automation: id })
  t.match([again.status, again.text], [422, /takes everybody once/])
  const viewer = await logIn(posthorn, accountId, 'viewer')
  t.notMatch((await viewer.get(page)).text, 'Start an automation')
  t.equal((await viewer.post(`${page}/start`, { automation: id })).status, 403)
})
