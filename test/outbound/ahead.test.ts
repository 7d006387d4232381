import t, { type Test } from 'tap'
import { type Claimed, claim } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeLanes } from '../../src/outbound/admission/lanes.js'
import { type Ahead, makeAhead } from '../../src/outbound/claims/ahead.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const key = { lane: 'a.test', class: 0, accountId: 'x' } as const
const thread = 3

/** A stream of ten deliveries, due at 1 to 10, of which as many as said are claimed. */
async function rigOf(t: Test) {
  const opened = await openTestStore(t)
  const failing = { writes: 0 }
  const write: Store['write'] = async (work) => {
    if (failing.writes-- > 0) throw new Error('The disk is full')
    return await opened.write(work)
  }
  const store: Store = { ...opened, read: opened.read, write, byRow: write }
  const clock = new FakeClock(1_000)
  await store.write(async (tx) => {
    for (let id = 1; id <= 10; id++) {
      const empty = { lease: null, last_attempt_at: null, last_reply: null, last_transcript: null }
      const ids = { id, email_id: 'e', account_id: 'x', recipient: `r${id}@a.test` }
      const times = { due_at: id, expires_at: 10_000, attempts: 0 }
      await tx
        .insertInto('queue')
        .values({ ...ids, ...times, ...empty, lane: 'a.test', class: 0 })
        .execute()
    }
  })
  const lanes = makeLanes()
  lanes.note({ ...key, dueAt: 1 })
  const [stream] = lanes.wake(1_000)
  if (stream === undefined) throw new Error('No stream is due')
  const told: string[] = []
  let returned = () => {}
  const ahead: Ahead = makeAhead({
    store,
    clock,
    thread,
    log: silentLog,
    onExhausted: (_, nextDueAt) => told.push(`exhausted until ${nextDueAt}`),
    onReturned(_, dueAt) {
      told.push(`returned since ${dueAt}`)
      returned()
    },
  })
  return {
    store,
    clock,
    stream,
    ahead,
    told,
    failing,
    /** Resolves when some have been given back. */
    given: () =>
      new Promise<void>((resolve) => {
        returned = resolve
      }),
    async take(limit: number): Promise<Claimed[]> {
      const claims = await store.write((tx) =>
        claim(tx, [{ ...key, limit }], { now: 1_000, node: 1, lease: thread }),
      )
      return claims.flatMap(({ taken }) => taken)
    },
    async waiting() {
      const rows = await store.read.selectFrom('queue').select(['id', 'due_at', 'lease']).execute()
      return rows.filter(({ lease }) => lease === null).map((row) => [row.id, row.due_at])
    },
  }
}

t.test('only of a stream that leaves fast is more claimed than there are places', async (t) => {
  const { ahead, stream, clock } = await rigOf(t)
  const begin = (count: number) => {
    for (let i = 0; i < count; i++) ahead.began(stream)
  }
  t.equal(ahead.wanted(stream), 0, 'nothing is known yet')
  begin(3)
  await clock.advance(200)
  t.equal(ahead.wanted(stream), 0, '3 in 200 ms are slow')
  begin(30)
  await clock.advance(200)
  t.equal(ahead.wanted(stream), 30, 'as many as leave in 200 ms')
  begin(1_000)
  t.equal(ahead.wanted(stream), 30, 'until those have passed')
  await clock.advance(200)
  t.equal(ahead.wanted(stream), 100, 'bounded')
  await clock.advance(60_000)
  t.equal(ahead.wanted(stream), 0)
})

t.test(
  'what is kept begins in its order, and the last one tells that there is no more',
  async (t) => {
    const { ahead, stream, take, told } = await rigOf(t)
    ahead.keep(stream, await take(2), undefined)
    ahead.keep(stream, await take(2), undefined)
    t.equal(ahead.left(stream), 4)
    t.notOk(ahead.isLow(stream))
    const ids = [1, 2, 3].map(() => ahead.take(stream)?.id)
    t.same(ids, [1, 2, 3])
    t.ok(ahead.isLow(stream))
    ahead.keep(stream, [], { nextDueAt: 70 })
    t.notOk(ahead.isLow(stream), 'there is nothing more to claim')
    t.same(told, [])
    t.equal(ahead.take(stream)?.id, 4)
    t.same(told, ['exhausted until 70'])
    t.ok(ahead.isEmpty())
    t.equal(ahead.take(stream), undefined)
  },
)

t.test('what no place came for is given back after a second, due as it was', async (t) => {
  const { ahead, stream, take, told, clock, given, waiting } = await rigOf(t)
  ahead.keep(stream, await take(10), { nextDueAt: undefined })
  ahead.take(stream)
  const back = given()
  await clock.advance(1_000)
  await back
  t.same(told, ['exhausted until undefined', 'returned since 2'])
  t.same(
    await waiting(),
    [2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) => [id, id]),
  )
  t.ok(ahead.isEmpty())
})

t.test('a stream whose gate has closed is claimed by places alone for a while', async (t) => {
  const { ahead, stream, take, clock, given, waiting } = await rigOf(t)
  ahead.wanted(stream)
  for (let i = 0; i < 50; i++) ahead.began(stream)
  await clock.advance(200)
  t.equal(ahead.wanted(stream), 50)
  ahead.keep(stream, await take(3), undefined)
  const back = given()
  ahead.giveBack([stream])
  t.ok(ahead.isEmpty(), 'none of them can begin meanwhile')
  await back
  t.equal((await waiting()).length, 10)
  for (let i = 0; i < 50; i++) ahead.began(stream)
  await clock.advance(1_000)
  t.equal(ahead.wanted(stream), 0)
})

t.test('what could not be given back is tried again until it is', async (t) => {
  const { ahead, stream, take, failing, clock, given, waiting } = await rigOf(t)
  const claimed = await take(10)
  ahead.keep(stream, claimed, undefined)
  failing.writes = 2
  let isBack = false
  void given().then(() => {
    isBack = true
  })
  ahead.giveBack([stream])
  t.ok(ahead.holds(stream, 1), 'nobody claims them meanwhile')
  t.equal((await waiting()).length, 0)
  while (!isBack) await clock.advance(1_000)
  t.equal((await waiting()).length, 10)
  t.notOk(ahead.holds(stream, 1))
})

t.test('a stop waits for no disk: the next start takes what stays leased', async (t) => {
  const { ahead, stream, take, failing, waiting } = await rigOf(t)
  ahead.keep(stream, await take(10), undefined)
  failing.writes = 3
  await ahead.close()
  t.equal((await waiting()).length, 0)
})

t.test('at the end all is given back, but not what another has taken since', async (t) => {
  const { ahead, stream, store, take, waiting } = await rigOf(t)
  ahead.keep(stream, await take(10), undefined)
  await store.write(async (tx) => {
    await tx.updateTable('queue').set({ lease: 4 }).where('id', '>', 2).execute()
  })
  await ahead.close()
  t.same(await waiting(), [
    [1, 1],
    [2, 2],
  ])
})
