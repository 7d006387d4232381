import t, { type Test } from 'tap'
import {
  findNotice,
  notice,
  openNotices,
  pastNotices,
  type Raised,
  settled,
  settleOthers,
} from '../../src/notices/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

async function openNotebook(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  return {
    clock,
    store,
    raise: (raised: Partial<Raised>) =>
      store.write((tx) =>
        notice(tx, {
          kind: 'disk',
          key: 'data',
          severity: 'daily',
          text: 'The disk fills',
          fix: 'df -h',
          ...raised,
          now: clock.now(),
        }),
      ),
    row: () =>
      store.read.selectFrom('notices').selectAll().orderBy('id', 'desc').executeTakeFirst(),
    rows: () => store.read.selectFrom('notices').selectAll().orderBy('id').execute(),
  }
}

t.test('what is raised again is one notice that counts, with the newest words', async (t) => {
  const { raise, rows, clock } = await openNotebook(t)
  await raise({})
  await clock.advance(1_000)
  await raise({ text: 'The disk fills more' })
  const [row, ...others] = await rows()
  t.same(others, [])
  t.match(row, { count: 2, text: 'The disk fills more', state: 'open', fresh: 1, urgent: 0 })
  t.equal(row?.last_at, (row?.first_at ?? 0) + 1_000)
})

t.test('a notice that was told is new again only when it is worse or further', async (t) => {
  const { raise, row, store } = await openNotebook(t)
  const tell = () => store.write((tx) => tx.updateTable('notices').set({ fresh: 0 }).execute())
  await raise({ stage: '21' })
  await tell()
  await raise({ stage: '21', text: 'a day later' })
  t.match(await row(), { fresh: 0, urgent: 0 })
  await raise({ stage: '7' })
  t.match(await row(), { fresh: 1, urgent: 0 })
  await tell()
  await raise({ stage: '7', severity: 'burning' })
  t.match(await row(), { fresh: 1, urgent: 1 })
  await raise({ stage: '7' })
  t.match(await row(), { severity: 'daily', urgent: 0 })
})

t.test('what is settled stays in the history, and comes again as another', async (t) => {
  const { raise, rows, store, clock } = await openNotebook(t)
  await raise({ severity: 'burning' })
  await store.write((tx) => tx.updateTable('notices').set({ urgent_at: 7 }).execute())
  await store.write((tx) => settled(tx, { kind: 'disk', key: 'data', now: clock.now() }))
  t.same(await openNotices(store.read), [])
  const [past] = await pastNotices(store.read, 10)
  t.match(past, { kind: 'disk', settledAt: clock.now() })
  await raise({ severity: 'burning' })
  t.match(await rows(), [{ state: 'settled' }, { state: 'open', count: 1, urgent_at: 7 }])
  t.match(await findNotice(store.read, past?.id ?? 0), { text: 'The disk fills' })
})

t.test('a look at all of a kind settles what it did not find', async (t) => {
  const { raise, store, clock } = await openNotebook(t)
  await raise({ key: 'a' })
  await raise({ key: 'b' })
  await raise({ key: 'b', kind: 'thread' })
  const { write } = store
  await write((tx) => settleOthers(tx, { kind: 'disk', still: ['a'], now: clock.now() }))
  const open = await openNotices(store.read)
  t.same(open.map(({ kind, key }) => `${kind} ${key}`).sort(), ['disk a', 'thread b'])
})

t.test('a flood of one kind is bounded, and ends', async (t) => {
  const { raise, store, clock } = await openNotebook(t)
  const keys = Array.from({ length: 260 }, (_, i) => `k${i}`)
  for (const key of keys) await raise({ kind: 'webhook', key })
  const open = await openNotices(store.read)
  t.equal(open.length, 201)
  t.equal(open.find(({ key }) => key === '(more)')?.count, 60)
  await store.write((tx) => settleOthers(tx, { kind: 'webhook', still: keys, now: clock.now() }))
  t.equal((await openNotices(store.read)).length, 201, 'all of it goes on')
  const still = keys.slice(0, 3)
  await store.write((tx) => settleOthers(tx, { kind: 'webhook', still, now: clock.now() }))
  t.equal((await openNotices(store.read)).length, 3)
})

t.test('names of others make no line and hide nothing', async (t) => {
  const { raise, row } = await openNotebook(t)
  const name = 'Evil\r\nFix: rm -rf /\u202e\u0000\ud800'
  await raise({ key: `a\n${'x'.repeat(400)}`, text: [`"${name}" is paused`, `Account: ${name}`] })
  const { text, key } = (await row()) ?? {}
  t.equal(text, '"Evil Fix: rm -rf / " is paused\nAccount: Evil Fix: rm -rf /')
  t.equal(key?.length, 200)
  t.notMatch(key, /\n/)
})
