// Work with all contacts that fit, as a task: over a real database, and by the API of a running appliance.
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import {
  addContact,
  type BulkOrder,
  contactTotal,
  createList,
  exportFitting,
  findBulk,
  findContact,
  listLists,
  listMembers,
  makeBulkTasks,
} from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import { suppressionsOf } from '../../src/suppression/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const store = await openTestStore(t)
  const deps = { store, clock }
  const { id: accountId } = await createAccount(deps, 'One')
  const joined: string[] = []
  const start = () => {
    const bulk = makeBulkTasks({
      ...deps,
      plans: loadPlans('config/plans.toml'),
      log: silentLog,
      defaultCountry: 'NG',
      askFirst: async (_account, { given }) => ({ id: 'none', email: given.email }),
      follow: async (_tx, _account, news) => {
        joined.push(...news.map(({ contact }) => contact.email))
      },
    })
    t.teardown(() => bulk.close())
    return bulk
  }
  const task = (id: number) => findBulk(store.read, accountId, id)
  const until = async (id: number, isSo: (state: string, done: number) => boolean) => {
    for (;;) {
      const found = await task(id)
      if (isSo(found.state, found.done)) return found
      await pause(clock, 5)
    }
  }
  const { id: listId } = await createList(deps, accountId, 'Readers')
  return {
    ...deps,
    accountId,
    joined,
    start,
    task,
    until,
    listId,
    add: async (n: number, on?: string) => {
      for (let i = 0; i < n; i++) {
        await addContact(deps, accountId, { email: `p${i}@x.test` }, { listId: on })
      }
    },
    run: async (bulk: ReturnType<typeof start>, order: Omit<BulkOrder, 'by'>) => {
      const id = await bulk.begin(accountId, { ...order, by: 'dashboard' }, 'u')
      return await until(id, (state) => state !== 'running')
    },
  }
}

t.test('all that fit are added, changed, unsubscribed, taken off and deleted', async (t) => {
  const rig = await open(t)
  const { store, accountId, add, run, listId } = rig
  await add(230)
  await addContact(rig, accountId, { email: 'q@x.test' })
  const bulk = rig.start()
  const q = { q: 'p' }
  const put = { do: 'add', search: q, target: listId, note: 'at the fair', trigger: true } as const
  t.match(await run(bulk, put), { state: 'done', done: 230, total: 230, result: { changed: 230 } })
  t.equal(rig.joined.length, 230)
  t.match(await run(bulk, put), { done: 230, result: { changed: 0 } }, 'once more changes nothing')
  const metadata = { town: 'Lagos' }
  await run(bulk, { do: 'set', search: { q: 'p1' }, metadata })
  t.same((await findContact(store.read, accountId, 'p12@x.test'))?.metadata, metadata)
  t.same((await findContact(store.read, accountId, 'p2@x.test'))?.metadata, {})
  await run(bulk, { do: 'unsubscribe', search: { q: 'p2' }, note: 'by phone' })
  t.match(await suppressionsOf(store.read, accountId, 'p22@x.test'), [
    { reason: 'unsubscribe', detail: 'by phone' },
  ])
  t.same(await suppressionsOf(store.read, accountId, 'p1@x.test'), [])

  const { id: other } = await createList(rig, accountId, 'Others')
  await run(bulk, { do: 'add', search: { q: 'p1' }, target: other })
  await run(bulk, { do: 'remove', search: { listId }, target: listId })
  const counts = (await listLists(store.read, accountId)).map((one) => [one.name, one.contactCount])
  t.same(new Map(counts as [string, number][]).get('Readers'), 0)
  t.equal(await contactTotal(store.read, accountId), 112, 'who was on no other list is deleted')
  await run(bulk, { do: 'delete', search: { listId: other } })
  t.equal(await contactTotal(store.read, accountId), 1)
})

t.test(
  'who came by a clock that was ahead is among them, and who comes later is not',
  async (t) => {
    const rig = await open(t)
    const { store, accountId, add, until, task, start } = rig
    await add(120)
    const ahead = { created_at: clock.now() + 3_600_000 }
    await store.write((tx) => tx.updateTable('contacts').set(ahead).execute())
    const first = start()
    const order = { do: 'set', search: {}, metadata: { a: 1 }, by: 'api' } as const
    const id = await first.begin(accountId, order, 'u')
    await first.change(accountId, id, 'paused')
    await addContact(rig, accountId, { email: 'zz@x.test' })
    const behind = { created_at: clock.now() - 3_600_000 }
    const latest = store.read.selectFrom('contacts').select('id').where('address', '=', 'zz@x.test')
    await store.write((tx) =>
      tx.updateTable('contacts').set(behind).where('id', 'in', latest).execute(),
    )
    await first.change(accountId, id, 'running')
    await until(id, (state) => state === 'done')
    t.match(await task(id), { done: 120, result: { changed: 120 } })
  },
)

t.test(
  'it goes on after a kill where it was, pauses, stops, and leaves who came later',
  async (t) => {
    const rig = await open(t)
    const { store, accountId, add, until, task, listId } = rig
    await add(450)
    const search = {}
    const first = rig.start()
    const order = { do: 'add', search, target: listId, by: 'dashboard' } as const
    const id = await first.begin(accountId, order, 'u')
    await first.change(accountId, id, 'paused')
    await first.close()
    const { done } = await task(id)
    t.ok(done < 450)
    const second = rig.start()
    await second.resume()
    t.equal((await task(id)).state, 'paused', 'what is paused stays so')
    await pause(clock, 2)
    await addContact(rig, accountId, { email: 'zz-late@x.test' })
    await second.change(accountId, id, 'running')
    t.match(await until(id, (state) => state === 'done'), { done: 450, result: { changed: 450 } })
    const late = await listMembers(store.read, accountId, listId, {
      limit: 1,
      email: 'zz-late@x.test',
    })
    t.same(late.members, [])

    const next = await second.begin(accountId, { do: 'delete', search, by: 'api' }, 'u')
    await second.change(accountId, next, 'stopped')
    t.ok((await contactTotal(store.read, accountId)) > 0)
    await t.rejects(second.change(accountId, next, 'running'), { code: 'conflict' })
  },
)

t.test('whoever fits is saved as CSV, no cell a formula', async (t) => {
  const rig = await open(t)
  await addContact(rig, rig.accountId, { email: 'a@x.test', firstName: '=1+1' })
  await addContact(rig, rig.accountId, { email: 'b@x.test' })
  let text = ''
  for await (const piece of exportFitting(rig.store.read, rig.accountId, { q: 'a' }, 'NG')) {
    text += piece
  }
  t.match(text, /^email,.*\r?\na@x\.test,"?'=1\+1/)
  t.notMatch(text, 'b@x')
})

t.test('by the API', async (t) => {
  const { call, addAccount } = await startPosthorn(t)
  const list = (await call('POST', '/v1/contacts/lists', { body: { name: 'L' } })).json.id
  for (const one of ['ann', 'ben']) {
    await call('POST', `/v1/contacts/${list}`, { body: { email: `${one}@x.test` } })
  }
  const bulk = (body: object) => call('POST', '/v1/contacts/bulk', { body })
  t.equal((await bulk({ do: 'delete' })).status, 422, 'all contacts only if that is said')
  t.equal((await bulk({ do: 'add', all: true })).status, 422)
  t.equal((await bulk({ do: 'unsubscribe', all: true })).status, 422)
  const { status, json } = await bulk({ do: 'set', q: 'ann', metadata: { town: 'Lagos' } })
  t.equal(status, 202)
  const path = `/v1/contacts/bulk/${json.id}`
  for (;;) {
    const { json: now } = await call('GET', path)
    if (now.state === 'done') {
      t.match(now, { do: 'set', done: 1, total: 1, changed: 1 })
      break
    }
    await pause(clock, 10)
  }
  t.match((await call('GET', '/v1/contacts/all?q=ann')).json.contacts[0].metadata, {
    town: 'Lagos',
  })
  t.equal((await call('DELETE', path)).status, 409)
  t.equal((await call('GET', '/v1/contacts/bulk/x')).status, 404)
  const { apiKey } = await addAccount('Other')
  t.equal((await call('GET', path, { key: apiKey })).status, 404)
})
