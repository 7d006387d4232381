import t from 'tap'
import { claim, makeClaimFrom, unclaim } from '../../src/deliveries/index.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'

t.test(
  'claims of a deep stream go on where the last one ended, and look back every second',
  async (t) => {
    const clock = new FakeClock()
    const { store, send, accountId } = await outboundRig(t, { clock, stopped: true })
    for (let i = 0; i < 30; i++) {
      await send({ to: `r${i}@one.test` })
      await clock.advance(10)
    }
    const stream = { lane: 'one.test', class: 0 as const, accountId }
    const places = makeClaimFrom<typeof stream>()
    const take = async (limit: number) => {
      const now = clock.now()
      const from = places.of(stream, now)
      const [found] = await store.byRow((tx) =>
        claim(tx, [{ ...stream, limit, from }], { now, node: 1, lease: 16 }),
      )
      if (found === undefined) throw new Error('There is no answer for the stream')
      places.keep(stream, from, found, now)
      return found
    }
    const names = ({ taken }: { taken: { recipient: string }[] }) =>
      taken.map(({ recipient }) => Number(/\d+/.exec(recipient)?.[0]))

    const first = await take(5)
    t.same(names(first), [0, 1, 2, 3, 4])
    await store.byRow((tx) => unclaim(tx, first.taken, 16))
    t.same(
      names(await take(3)),
      [4, 5, 6],
      'what was given back stands before the place, but for the last',
    )
    await clock.advance(1_000)
    t.same(names(await take(3)), [0, 1, 2], 'a second later it is looked at from the beginning')
    t.same(
      names(await take(20)),
      [3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25],
    )
    const given = await take(2)
    t.same(names(given), [26, 27])
    await store.byRow((tx) => unclaim(tx, given.taken, 16))
    const last = await take(10)
    t.same(
      names(last),
      [26, 27, 28, 29],
      'where too few stand behind it, those before it are looked for',
    )
    t.ok(last.exhausted)
    t.equal(places.of(stream, clock.now()), undefined, 'a stream at its end has no place')
  },
)
