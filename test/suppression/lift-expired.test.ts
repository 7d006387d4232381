import t, { type Test } from 'tap'
import { silentLog } from '../../src/log/index.js'
import { liftExpired, suppress } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { changedBeforeWrite } from '../support/gap.js'
import { poison } from '../support/poison.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test, count: number) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  await store.write(async (tx) => {
    for (let n = 0; n < count; n++) {
      const over = { email: `p${n}@x.test`, reason: 'bounce', expiresAt: clock.now() + n } as const
      await suppress(tx, 'a', over, clock.now())
    }
  })
  await clock.advance(count)
  const site = { store, clock, log: silentLog }
  const signal = new AbortController().signal
  return {
    ...site,
    lift: (more: Partial<typeof site> = {}, stop = signal) =>
      liftExpired({ ...site, ...more }, stop),
    left: async () => {
      const rows = await store.read.selectFrom('suppressions').select('address').execute()
      return rows.map(({ address }) => address)
    },
  }
}

t.test('many that are over at once let others write between them', async (t) => {
  const { store, lift, left } = await open(t, 200)
  const lifting = lift()
  await store.write(async () => {})
  t.ok((await left()).length >= 100, `${(await left()).length} are left when another has written`)
  await lifting
  t.same(await left(), [])
})

t.test('one that cannot be lifted keeps no other on the list', async (t) => {
  const { store, lift, left } = await open(t, 120)
  await poison(store, 'delete on suppressions', "old.address = 'p3@x.test'")
  await lift()
  t.same(await left(), ['p3@x.test'])
})

t.test('one that was prolonged since it was looked for stays', async (t) => {
  const { store, clock, lift, left } = await open(t, 2)
  const longer = { email: 'p0@x.test', reason: 'bounce', expiresAt: clock.now() + 9 } as const
  const prolong = () => store.write((tx) => suppress(tx, 'a', longer, clock.now()))
  await lift({ store: changedBeforeWrite(store, prolong) })
  t.same(await left(), ['p0@x.test'])
})

t.test('a stop of the appliance ends it between two slices', async (t) => {
  const { lift, left } = await open(t, 120)
  const stop = new AbortController()
  stop.abort()
  await lift({}, stop.signal)
  t.equal((await left()).length, 120)
})
