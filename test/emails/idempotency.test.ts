import t, { type Test } from 'tap'
import { makeIdempotency } from '../../src/emails/index.js'
import { makeTurns, type Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const accountId = '0193e4a0-0000-7000-8000-000000000001'

/** Two threads that take requests in, which know nothing of each other but the database. */
async function openTwo(t: Test) {
  const clock = new FakeClock()
  const shared = { dataDir: makeTempDir(t), clock, turns: makeTurns() }
  const stores = [await openTestStore(t, shared), await openTestStore(t, { ...shared, slot: 15 })]
  const [one, other] = stores.map((store) => ({
    store,
    idempotency: makeIdempotency({ store, clock }),
  }))
  if (one === undefined || other === undefined) throw new Error('Two stores were opened')
  await one.store.write((tx) =>
    tx.insertInto('accounts').values({ id: accountId, name: 'A', created_at: 0 }).execute(),
  )
  return { one, other, clock }
}

type Thread = Awaited<ReturnType<typeof openTwo>>['one']

/** A request that makes an account of this name, once `isRead` has come. */
function request(
  { store, idempotency }: Thread,
  name: string,
  {
    fingerprint = 'same',
    isRead = Promise.resolve(),
  }: { fingerprint?: string; isRead?: Promise<void> } = {},
) {
  const asked = { account: { accountId }, key: 'k', fingerprint }
  return idempotency.once(asked, async (remember) => {
    await isRead
    await store.write(async (tx) => {
      await tx.insertInto('accounts').values({ id: name, name, created_at: 0 }).execute()
      await remember(tx, { name })
    })
    return { status: 200, body: { name } }
  })
}

const accounts = async ({ read }: Store) =>
  (await read.selectFrom('accounts').select('name').orderBy('name').execute()).map(
    ({ name }) => name,
  )

t.test('of two threads with one key the second is undone, and answers as the first', async (t) => {
  const { one, other } = await openTwo(t)
  let goOn = () => {}
  const isRead = new Promise<void>((resolve) => {
    goOn = resolve
  })
  // Has found no row of its key, and writes behind the other.
  const slow = request(one, 'slow', { isRead })
  const elsewhere = request(one, 'slow')
  await t.rejects(elsewhere, { code: 'concurrent_idempotent_request' }, 'in one thread it is known')
  await new Promise((resolve) => setImmediate(resolve))
  t.match(await request(other, 'fast'), { body: { name: 'fast' }, replayed: false })
  goOn()
  t.match(await slow, { status: 200, body: { name: 'fast' }, replayed: true })
  t.same(await accounts(one.store), ['A', 'fast'])
})

t.test('who asked for something else under the key is told so', async (t) => {
  const { one, other } = await openTwo(t)
  let goOn = () => {}
  const isRead = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const slow = request(one, 'slow', { isRead, fingerprint: 'another' })
  await new Promise((resolve) => setImmediate(resolve))
  await request(other, 'fast')
  goOn()
  await t.rejects(slow, { code: 'invalid_idempotent_request' })
  t.same(await accounts(one.store), ['A', 'fast'])
})

t.test('after a day the key is free, and is kept anew', async (t) => {
  const { one, other, clock } = await openTwo(t)
  await request(one, 'first')
  await clock.advance(86_400_000)
  t.match(await request(other, 'next'), { replayed: false })
  t.match(await request(one, 'third'), { body: { name: 'next' }, replayed: true })
})
