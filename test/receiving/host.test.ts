import t from 'tap'
import { startReceiving } from '../support/receiving.js'

t.setTimeout(300_000)

t.test('a host receives for one account alone, of those that are verified', async (t) => {
  const posthorn = await startReceiving(t)
  const { call, store } = posthorn
  const { apiKey: key } = await posthorn.addAccount('Other')
  const added = await call('POST', '/v1/domains', { key, body: { name: 'in.sender.test' } })
  t.equal(added.status, 201)
  const at = `/v1/domains/${added.json.id}`
  const receive = (receivingHost: string) => call('PATCH', at, { key, body: { receivingHost } })
  t.match(await receive('sender.test'), { status: 422, json: { field: 'receivingHost' } })
  t.match(await receive('in.sender.test'), {
    status: 409,
    json: { error: 'Mail to in.sender.test is received by another account already' },
  })
  // Whoever is not verified keeps nobody from it.
  const [holder] = (await call('GET', '/v1/domains')).json.domains
  await store.write((tx) =>
    tx.updateTable('domains').set({ status: 'pending' }).where('id', '=', holder.id).execute(),
  )
  t.match(await receive('in.sender.test'), { json: { receivingHost: 'in.sender.test' } })
  t.equal((await call('GET', `/v1/domains/${holder.id}`)).json.receivingHost, null)
})
