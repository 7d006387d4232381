// Rules of automations that ask for segments and campaigns.
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { startPosthorn } from '../support/posthorn.js'

t.test('a run goes by the segments that its contact is in, and by campaigns', async (t) => {
  const posthorn = await startPosthorn(t)
  const { store } = posthorn
  const ask = (method: string, path: string, body?: object) =>
    posthorn.call(method, `/v1${path}`, body === undefined ? {} : { body })
  const list = (await ask('POST', '/contacts/lists', { name: 'Readers' })).json.id
  const ids: Record<string, string> = {}
  for (const [name, town] of [
    ['ann', 'Lagos'],
    ['bob', 'Accra'],
  ] as const) {
    const given = { email: `${name}@x.test`, metadata: { town } }
    ids[name] = (await ask('POST', `/contacts/${list}`, given)).json.id
  }
  const rule = { field: 'contact.metadata.town', operator: 'eq', value: 'Lagos' }
  const segment = (await ask('POST', '/segments', { name: 'Lagos', rule })).json.id
  await eventually(async () => (await ask('GET', `/segments/${segment}`)).json.count === 1, 15_000)
  const campaign = '01a1fc92-0000-7000-8000-5f0e1c2d3b4a'
  const deeds = { left_at: null, complained_at: null, unreached_at: null, bounce: null }
  const opened = { opened_at: Date.now(), clicked_at: null, email_id: 'x', ...deeds }
  await store.write((tx) =>
    tx
      .insertInto('broadcast_people')
      .values({ contact_id: ids.bob ?? '', broadcast_id: campaign, ...opened })
      .execute(),
  )
  const make = async (filter: object | undefined, condition: object) => {
    const steps = [
      { key: 'start', type: 'trigger', config: { eventName: 'go', ...(filter && { filter }) } },
      { key: 'asks', type: 'condition', config: condition },
      { key: 'yes', type: 'contact_update', config: { metadata: { said: 'yes' } } },
      { key: 'no', type: 'contact_update', config: { metadata: { said: 'no' } } },
    ]
    const connections = [
      { from: 'start', to: 'asks', type: 'default' },
      { from: 'asks', to: 'yes', type: 'condition_met' },
      { from: 'asks', to: 'no', type: 'condition_not_met' },
    ]
    return await ask('POST', '/automations', { name: 'Asks', steps, connections })
  }
  const inside = { field: `segment.${segment}`, operator: 'eq', value: true }
  const didOpen = { field: `broadcast.${campaign}.opened`, operator: 'eq', value: true }
  const either = { any: [inside, didOpen] }
  const made = await make(either, inside)
  t.equal(made.status, 201, made.text)
  t.equal((await ask('POST', `/automations/${made.json.id}/enable`)).status, 200)
  const saidBy = async (name: string) =>
    (await ask('GET', `/contacts/all/${ids[name]}`)).json.metadata.said
  for (const name of ['ann', 'bob']) {
    const sent = await ask('POST', '/events/send', { event: 'go', email: `${name}@x.test` })
    t.equal(sent.status, 202, sent.text)
  }
  await eventually(async () => (await saidBy('ann')) === 'yes', 15_000)
  await eventually(async () => (await saidBy('bob')) === 'no', 15_000)
  const stranger = await ask('POST', '/events/send', { event: 'go', email: 'cid@x.test' })
  t.match(JSON.stringify(stranger.json), 'filtered', 'who is in neither starts no run')

  const wrong = await make(undefined, { ...inside, field: 'segment.x' })
  t.match([wrong.status, wrong.text], [422, /segment\.ID/])
  t.equal((await ask('DELETE', `/segments/${segment}`)).status, 409, 'it is used')

  // Nobody would ever be in a segment that is not there: what names one is not enabled.
  const gone = '01a1fc92-0000-7000-8000-00000000dead'
  const lost = await make({ not: { all: [{ ...inside, field: `segment.${gone}` }] } }, inside)
  const refused = await ask('POST', `/automations/${lost.json.id}/enable`)
  t.match(
    [refused.status, refused.json.errors],
    [422, [{ key: 'start', error: `filter.not.all.0.field: the account has no segment ${gone}` }]],
  )
})
