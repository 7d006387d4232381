// Issue 'For developers' 2: suppressions by the API.
import t from 'tap'
import { suspend } from '../../src/billing/index.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { call } = posthorn
const add = (body: object) => call('POST', '/v1/suppressions', { body })
const mail = { from: 'a@sender.test', to: 'ann@x.test', subject: 'x', html: '<p>x</p>' }

t.test(
  'an address is suppressed, says why, and is mailed again when it is taken off',
  async (t) => {
    const made = await add({ email: 'Ann <Ann@X.test>', detail: 'asked by phone' })
    t.match(made, { status: 201, json: { email: 'ann@x.test', reason: 'manual', scope: 'all' } })
    t.equal((await add({ email: 'ann@x.test', reason: 'unsubscribe' })).json.scope, 'marketing')
    t.equal((await add({ email: 'ANN@x.test', reason: 'unsubscribe' })).status, 200)
    const { json } = await posthorn.send(mail)
    t.equal((await posthorn.email(json.id)).status, 'suppressed')

    const why = await call('GET', '/v1/suppressions/ANN%40x.test')
    t.match(why.json, {
      email: 'ann@x.test',
      blocks: 'all',
      suppressions: [{ reason: 'manual', detail: 'asked by phone' }, { reason: 'unsubscribe' }],
      history: [
        { kind: 'suppressed', detail: { note: 'asked by phone' } },
        { kind: 'unsubscribed' },
      ],
    })
    const one = await call('DELETE', '/v1/suppressions/ann@x.test?reason=manual')
    t.match(one.json, { email: 'ann@x.test', removed: 1 })
    t.equal((await call('GET', '/v1/suppressions/ann@x.test')).json.blocks, 'marketing')
    t.match((await call('DELETE', '/v1/suppressions/ann@x.test')).json, { removed: 1 })
    t.equal((await call('DELETE', '/v1/suppressions/ann@x.test')).status, 404)
    const after = await call('GET', '/v1/suppressions/ann@x.test')
    t.match(after.json, { blocks: null, suppressions: [] })
    t.match(after.json.history.at(-1), { kind: 'lifted', detail: { by: 'api' } })
    const again = await posthorn.send(mail)
    t.not((await posthorn.email(again.json.id)).status, 'suppressed')
  },
)

t.test('an import takes what is good and names the rest, and can be repeated', async (t) => {
  const good = Array.from({ length: 450 }, (_, n) => ({ email: `r${n}@import.test` }))
  const suppressions = [{ email: 'nobody' }, ...good, { email: 'r0@import.test' }, { email: '' }]
  const given = { body: { suppressions } }
  const first = await call('POST', '/v1/suppressions/import', given)
  t.match(first.json, { added: 450, known: 1, refused: [{ index: 0 }, { index: 452 }] })
  const second = await call('POST', '/v1/suppressions/import', given)
  t.match(second.json, { added: 0, known: 451 })
  const body = { suppressions: Array(1_001).fill({ email: 'a@b.test' }) }
  t.equal((await call('POST', '/v1/suppressions/import', { body })).status, 400)
  for (const wrong of [[], [1], [{ email: 'a@b.test', reason: 'x' }], [{}], 'a@b.test']) {
    const refused = await call('POST', '/v1/suppressions/import', { body: { suppressions: wrong } })
    t.equal(refused.status, 400, JSON.stringify(wrong))
  }
})

t.test(
  'the list comes in pages by address, filtered or not, and each list has its cursors',
  async (t) => {
    for (const reason of ['bounce', 'complaint'] as const) {
      for (const name of ['a', 'b', 'c']) await add({ email: `${name}@list.test`, reason })
    }
    const all = async (query: string) => {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const page = (await call('GET', `/v1/suppressions?${query}${cursor}`)).json
        for (const { email, reason } of page.suppressions) seen.push(`${email} ${reason}`)
        if (!page.hasMore) return seen
        cursor = `&cursor=${page.nextCursor}`
      }
    }
    const bounces = ['a@list.test bounce', 'b@list.test bounce', 'c@list.test bounce']
    t.same(await all('limit=1&reason=bounce'), bounces)
    const every = await all('limit=100')
    t.equal(every.length, 456)
    t.same(every, [...new Set(every)])
    t.same(await all('limit=7'), every)
    const { nextCursor } = (await call('GET', '/v1/suppressions?limit=1')).json
    const stranger = await posthorn.addAccount('Stranger')
    for (const [path, key] of [
      [`/v1/suppressions?reason=bounce&cursor=${nextCursor}`, posthorn.apiKey],
      [`/v1/suppressions?cursor=${nextCursor}`, stranger.apiKey],
      [`/v1/templates?cursor=${nextCursor}`, posthorn.apiKey],
      ['/v1/suppressions?cursor=%00', posthorn.apiKey],
    ] as const) {
      t.equal((await call('GET', path, { key })).status, 400, path)
    }
    const theirs = await call('GET', '/v1/suppressions', { key: stranger.apiKey })
    t.same(theirs.json.suppressions, [])
    const removing = await call('DELETE', '/v1/suppressions/a@list.test', { key: stranger.apiKey })
    t.equal(removing.status, 404)
  },
)

t.test('what is no address is refused, in a path and in a body', async (t) => {
  for (const email of [
    '',
    'a',
    'a@',
    '@b.test',
    'a b@c.test',
    'a@b.test\r\nBcc: x@y.test',
    'é'.repeat(500),
  ]) {
    t.match(await add({ email }), { status: 422, json: { field: 'email' } }, email.slice(0, 20))
  }
  for (const path of ['nobody', '%00@x.test', 'a%0d%0a@x.test', '%ff@x.test']) {
    t.equal((await call('GET', `/v1/suppressions/${path}`)).status, 404, path)
    t.equal((await call('DELETE', `/v1/suppressions/${path}`)).status, 404, path)
  }
  t.equal((await add({ email: 'a@b.test', detail: 'x'.repeat(1_001) })).status, 400)
})

t.test('an account that may not send may still suppress', async (t) => {
  await posthorn.store.write((tx) => suspend(tx, posthorn.accountId, 'abuse'))
  t.equal((await add({ email: 'late@x.test' })).status, 201)
})
