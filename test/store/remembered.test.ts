import t, { type Test } from 'tap'
import { makeTurns, rememberRows } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir, openTestStore } from '../support/store.js'

/** Remembers the state of an account, as a thread beside others does. */
async function open(t: Test) {
  const clock = new FakeClock()
  const [dataDir, turns] = [makeTempDir(t), makeTurns()]
  const store = await openTestStore(t, { clock, dataDir, turns })
  const thread = await openTestStore(t, { clock, dataDir, turns, slot: 1 })
  const command = await openTestStore(t, { clock, dataDir })
  const row = { account_id: 'a', first_account: 0, plan_id: null, marketing_plan_id: null }
  const rest = { suspended_reason: null, paused: null, marketing_paused: null, woken_revision: 0 }
  await store.write(async (tx) => {
    await tx.insertInto('accounts').values({ id: 'a', name: 'a', created_at: 0 }).execute()
    const values = { ...row, ...rest, billing_state: 'active' as const, revision: 0 }
    await tx.insertInto('subscriptions').values(values).execute()
  })
  let looks = 0
  const remembered = rememberRows<number>({ store, clock }, (revision) => revision !== 13)
  return {
    clock,
    store,
    thread,
    command,
    looks: () => looks,
    revision: () =>
      remembered('a', async () => {
        looks++
        const query = store.read.selectFrom('subscriptions').select('revision')
        return (await query.executeTakeFirstOrThrow()).revision
      }),
    set: (by: typeof store, revision: number) =>
      by.write((tx) => tx.updateTable('subscriptions').set({ revision }).execute()),
  }
}

t.test('a row is looked up once a second', async (t) => {
  const { clock, looks, revision, store } = await open(t)
  t.same(await Promise.all([revision(), revision()]), [0, 0])
  await store.write((tx) => tx.updateTable('accounts').set({ name: 'b' }).execute())
  await clock.advance(999)
  await revision()
  t.equal(looks(), 1, 'not again for what two ask at once, nor after another write')
  await clock.advance(1)
  await revision()
  t.equal(looks(), 2)
})

t.test('what any thread changes is seen at once, what a command changes in a second', async (t) => {
  const { clock, revision, set, store, thread, command } = await open(t)
  await revision()
  await set(store, 1)
  t.equal(await revision(), 1)
  await set(thread, 2)
  t.equal(await revision(), 2)
  await set(command, 3)
  t.equal(await revision(), 2)
  await clock.advance(1_000)
  t.equal(await revision(), 3)
})

t.test('what is refused is looked up each time, and no fault is remembered', async (t) => {
  const { looks, revision, set, store, clock } = await open(t)
  await set(store, 13)
  t.same([await revision(), await revision(), looks()], [13, 13, 2])
  const failing = rememberRows<number>({ store, clock }, () => true)
  await t.rejects(
    failing('x', () => Promise.reject(new Error('not now'))),
    /not now/,
  )
  t.equal(await failing('x', async () => 7), 7)
})
