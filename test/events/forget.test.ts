import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { findPlan, loadPlans, setPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { makeForgetEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { retentionsOf } from '../../src/retention/index.js'
import { cell } from '../../src/store/fragments.js'
import { rowsOf, type Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { openTestStore } from '../support/store.js'

const plans = loadPlans(packageFile('config/plans.toml'))
const day = 86_400_000

async function start(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  // As if all of them were counted: test/stats/ has how those wait that are not.
  const cursor = { event_id: Number.MAX_SAFE_INTEGER }
  await store.write((tx) => tx.updateTable('figure_cursors').set(cursor).execute())
  const account = async (name: string, plan: string) => {
    const { id } = await createAccount({ store, clock }, name)
    await store.write((tx) => setPlan(tx, id, findPlan(plans.email, plan)))
    return id
  }
  const left = async () =>
    (await store.read.selectFrom('events').select('email_id').orderBy('id').execute()).map(
      ({ email_id }) => email_id,
    )
  return { clock, store, account, left }
}

/** Events of an account, a row for each of these times. */
const happen = (store: Store, accountId: string, name: string, times: readonly number[]) =>
  store.write((tx) =>
    tx
      .insertInto('events')
      .columns(['account_id', 'email_id', 'class', 'type', 'at'])
      .expression((eb) =>
        eb
          .selectFrom(rowsOf(JSON.stringify(times.map((at) => [at]))))
          .select([
            eb.val(accountId).as('account_id'),
            eb.val(name).as('email_id'),
            eb.lit(0).as('class'),
            eb.val('delivered').as('type'),
            cell(0, 'integer').as('at'),
          ]),
      )
      .execute(),
  )

t.test('events go when the plan no longer keeps them', async (t) => {
  const { clock, store, account, left } = await start(t)
  const free = await account('Free', 'Free')
  const growth = await account('Growth', 'Growth')
  const deps = { store, log: silentLog, plans }
  const forget = makeForgetEvents(deps, retentionsOf(deps))
  const tidied = async () => {
    await forget(clock.now(), new AbortController().signal)
    return await left()
  }
  const now = clock.now()
  await happen(store, growth, 'growth 1', [now])
  await happen(store, free, 'free 1', [now])
  await happen(store, growth, 'growth 2', [now + day])
  await happen(store, free, 'free 2', [now + day])
  await happen(store, growth, 'newest', [now + day])
  t.equal((await tidied()).length, 5)
  await clock.advance(7 * day)
  t.equal((await tidied()).length, 5, 'as long as they are kept')
  await clock.advance(1)
  t.same(await tidied(), ['growth 1', 'growth 2', 'free 2', 'newest'])
  await clock.advance(day)
  t.same(await tidied(), ['growth 1', 'growth 2', 'newest'])
  await store.write((tx) => setPlan(tx, growth, findPlan(plans.email, 'Starter')))
  await clock.advance(6 * day)
  t.same(await tidied(), ['growth 2', 'newest'], 'who keeps less from now on loses what is older')
  await clock.advance(100 * day)
  t.same(await tidied(), ['newest'], 'the newest row keeps its number taken')
})

t.test('it goes in short writes, and stops when it is told to', async (t) => {
  const { clock, store, account, left } = await start(t)
  const id = await account('Free', 'Free')
  const other = await account('Other', 'Unlimited')
  const times = Array.from({ length: 3_000 }, (_, n) => n)
  await happen(store, other, 'other', times)
  await happen(store, id, 'old', times)
  await happen(store, id, 'newest', [clock.now()])
  let deleted: number[] = []
  const stopping = new AbortController()
  let writes = Number.POSITIVE_INFINITY
  const write: Store['write'] = async (work) => {
    const before = (await left()).length
    const result = await store.write(work)
    deleted.push(before - (await left()).length)
    if (--writes === 0) stopping.abort()
    return result
  }
  const watched: Store = { ...store, write, byRow: write }
  const keeps = new Map([
    [id, 7 * day],
    [other, 200_000 * day],
  ])
  const forget = makeForgetEvents({ store: watched, log: silentLog }, async () => keeps)
  writes = 2
  await forget(clock.now(), stopping.signal)
  t.ok((await left()).length >= 5_500, 'stopped between two steps')
  writes = Number.POSITIVE_INFINITY
  await forget(clock.now(), new AbortController().signal)
  t.equal((await left()).length, 3_001)
  t.ok(Math.max(...deleted) <= 200, 'in short writes')
  t.equal(
    deleted.reduce((sum, n) => sum + n),
    3_000,
  )
  deleted = []
  await forget(clock.now(), new AbortController().signal)
  t.same(deleted, [], 'and nothing is left to do')
})

t.test('one event that cannot be deleted keeps no other', async (t) => {
  const { clock, store, account, left } = await start(t)
  const free = await account('Free', 'Free')
  const now = clock.now()
  await happen(store, free, 'bad', [now - 900 * day])
  await happen(store, free, 'old', [now - 900 * day, now - 800 * day])
  await happen(store, free, 'new', [now])
  // An account of whose plan nothing is known stops nothing either.
  const lost = await account('Lost', 'Free')
  await store.write((tx) =>
    tx
      .updateTable('subscriptions')
      .set({ plan_id: 'gone' })
      .where('account_id', '=', lost)
      .execute(),
  )
  await poison(store, 'delete on events', "old.email_id = 'bad'")
  const deps = { store, log: silentLog, plans }
  await makeForgetEvents(deps, retentionsOf(deps))(clock.now(), new AbortController().signal)
  t.same(await left(), ['bad', 'new'])
})
