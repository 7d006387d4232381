import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { ApiError } from '../../src/errors/index.js'
import * as operations from '../../src/topics/contract.js'
import {
  createTopic,
  findTopic,
  listTopics,
  moveTopic,
  optedOutAmong,
  optIn,
  optOut,
  topicName,
  topicsLeftBy,
  updateTopic,
} from '../../src/topics/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const { id: stranger } = await createAccount(deps, 'Two')
  return {
    ...deps,
    read: store.read,
    account,
    stranger,
    create: (name: string, more: { description?: string; position?: number } = {}) =>
      createTopic(deps, account, { name, ...more }),
    archive: (id: string) =>
      store.write((tx) =>
        tx.updateTable('topics').set({ archived: 1 }).where('id', '=', id).execute(),
      ),
    leave: (topicId: string, address: string, owner = account) =>
      store.write((tx) => optOut(tx, owner, { topicId, address }, clock.now())),
    return: (topicId: string, address: string) =>
      store.write((tx) => optIn(tx, account, { topicId, address }, clock.now())),
  }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.status} ${error.code}`
  }
}

t.test('a topic is found by its own account while it is not archived', async (t) => {
  const topics = await open(t)
  const made = await topics.create(' Product news ', { description: 'Monthly', position: 3 })
  t.same(made, {
    id: made.id,
    name: 'Product news',
    description: 'Monthly',
    position: 3,
    archived: false,
    optedOut: 0,
    createdAt: topics.clock.now(),
  })
  t.same(await findTopic(topics.read, topics.account, made.id.toUpperCase()), made)
  t.equal(await codeOf(findTopic(topics.read, topics.stranger, made.id)), '404 not_found')
  t.equal(await codeOf(findTopic(topics.read, topics.account, 'nonsense')), '404 not_found')
  await topics.archive(made.id)
  t.equal(await codeOf(findTopic(topics.read, topics.account, made.id)), '409 conflict')
  t.equal(await topicName(topics.read, topics.account, made.id), 'Product news')
  t.equal(await topicName(topics.read, topics.stranger, made.id), undefined)
})

t.test(
  'a name is taken in any case, by an archived topic too, but in its account only',
  async (t) => {
    const topics = await open(t)
    const { id } = await topics.create('Größe und Café')
    await topics.archive(id)
    for (const twin of ['größe und café', 'GRÖßE UND CAFÉ', ' Größe und Cafe\u0301 ']) {
      t.equal(await codeOf(topics.create(twin)), '409 conflict', twin)
    }
    const other = await createTopic(topics, topics.stranger, { name: 'Größe und Café' })
    t.equal(other.name, 'Größe und Café')
    const both = await Promise.all([codeOf(topics.create('Same')), codeOf(topics.create('same'))])
    t.same(both.sort(), ['409 conflict', 'none'])
  },
)

t.test('names, descriptions and positions have bounds', async (t) => {
  const { body } = operations.createTopic.shape
  const fits = (given: object) => body?.is({ name: 'A', ...given })
  for (const name of ['', '   ', 'x'.repeat(61), 'a\nb', 'a\0']) {
    t.notOk(fits({ name }), JSON.stringify(name))
  }
  t.ok(fits({ name: '😀'.repeat(60) }), 'characters, not code units')
  t.notOk(fits({ description: 'x'.repeat(201) }))
  t.notOk(fits({ position: 0.5 }))
  t.ok(fits({ description: 'x'.repeat(200), position: -7 }))
})

t.test('topics are listed by position and name, archived ones when asked', async (t) => {
  const topics = await open(t)
  for (const [name, position] of [
    ['beta', 0],
    ['Alpha', 0],
    ['First', -1],
    ['Old', 5],
  ] as const) {
    await topics.create(name, { position })
  }
  const names = async (options?: { archived: boolean }) =>
    (await listTopics(topics.read, topics.account, options)).map(({ name }) => name)
  const old = (await listTopics(topics.read, topics.account)).at(-1)
  await topics.archive(old?.id ?? '')
  t.same(await names(), ['First', 'Alpha', 'beta'])
  t.same(await names({ archived: true }), ['First', 'Alpha', 'beta', 'Old'])
  t.same(await listTopics(topics.read, topics.stranger), [])
})

t.test(
  'who has left a topic has left that one, in any case, once, until coming back',
  async (t) => {
    const topics = await open(t)
    const [news, offers] = [await topics.create('News'), await topics.create('Offers')]
    t.equal(await topics.leave(news.id, 'Ada@X.test'), true)
    t.equal(await topics.leave(news.id, 'ada@x.TEST'), false)
    const among = async (topic: string, addresses: string[], account = topics.account) => [
      ...(await optedOutAmong(topics.read, account, topic, addresses)),
    ]
    t.same(await among(news.id, ['ADA@x.test', 'bob@x.test']), ['ADA@x.test'])
    t.same(await among(offers.id, ['ada@x.test']), [])
    t.same(await among(news.id, ['ada@x.test'], topics.stranger), [])
    t.same(await among(news.id, []), [])
    await topics.archive(news.id)
    t.same(await topicsLeftBy(topics.read, topics.account, 'ADA@X.test'), [news.id], 'outlives it')
    t.equal(await topics.return(news.id, 'ADA@x.test'), true)
    t.equal(await topics.return(news.id, 'ada@x.test'), false)
    t.same(await among(news.id, ['ada@x.test']), [])

    const many = Array.from({ length: 2_500 }, (_, n) => `n${n}@x.test`)
    await topics.store.write(async (tx) => {
      for (const address of many) {
        await optOut(tx, topics.account, { topicId: offers.id, address }, 0)
      }
    })
    t.equal((await among(offers.id, [...many, 'new@x.test'])).length, 2_500)
    const counts = (await listTopics(topics.read, topics.account, { archived: true })).map(
      ({ name, optedOut }) => [name, optedOut],
    )
    t.same(counts, [
      ['News', 0],
      ['Offers', 2_500],
    ])
  },
)

t.test('what is given changes; archiving and restoring keep the opt-outs', async (t) => {
  const topics = await open(t)
  const { account, stranger } = topics
  const { id } = await topics.create('News', { description: 'Monthly', position: 2 })
  await topics.create('Offers')
  await topics.leave(id, 'ada@x.test')
  const change = (changes: object, owner = account) => updateTopic(topics, owner, id, changes)
  t.match(await change({ position: -1 }), { name: 'News', description: 'Monthly', position: -1 })
  t.match(await change({ description: '' }), { description: '', position: -1 })
  t.match(await change({ name: 'NEWS' }), { name: 'NEWS' }, 'its own name in another case')
  t.equal(await codeOf(change({ name: ' oFFers ' })), '409 conflict')
  t.equal(await codeOf(change({ archived: true }, stranger)), '404 not_found')
  t.match(await change({ archived: true }), { archived: true, name: 'NEWS' })
  t.equal(await codeOf(findTopic(topics.read, account, id)), '409 conflict')
  t.match(await change({ archived: false }), { archived: false })
  t.same([...(await optedOutAmong(topics.read, account, id, ['ada@x.test']))], ['ada@x.test'])
})

t.test('a topic goes one place up or down, among equal positions too', async (t) => {
  const topics = await open(t)
  const ids = new Map<string, string>()
  for (const name of ['Anna', 'Bea', 'Cleo', 'Dora']) {
    ids.set(name, (await topics.create(name, { position: name === 'Dora' ? 7 : 0 })).id)
  }
  const order = async () => (await listTopics(topics.read, topics.account)).map(({ name }) => name)
  const move = (name: string, way: 'up' | 'down') =>
    moveTopic(topics, topics.account, ids.get(name) ?? '', way)
  await move('Dora', 'up')
  t.same(await order(), ['Anna', 'Bea', 'Dora', 'Cleo'])
  await move('Anna', 'down')
  t.same(await order(), ['Bea', 'Anna', 'Dora', 'Cleo'])
  t.match(await move('Bea', 'up'), { position: 0 }, 'the first one stays')
  await move('Cleo', 'down')
  t.same(await order(), ['Bea', 'Anna', 'Dora', 'Cleo'])
  await topics.archive(ids.get('Dora') ?? '')
  t.equal(await codeOf(move('Dora', 'up')), '409 conflict')
  t.equal(
    await codeOf(moveTopic(topics, topics.stranger, ids.get('Bea') ?? '', 'up')),
    '404 not_found',
  )
  await move('Cleo', 'up')
  t.same(await order(), ['Bea', 'Cleo', 'Anna'])
})
