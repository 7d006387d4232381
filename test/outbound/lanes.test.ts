import t from 'tap'
import { type Lane, makeLanes, reserveOf, type Want } from '../../src/outbound/lanes.js'
import type { QueueClass } from '../../src/store/index.js'

const transactional = 0
const campaign = 2
const due = (lane: string, accountId = 'x', of: QueueClass = transactional, dueAt = 0) => ({
  lane,
  class: of,
  accountId,
  dueAt,
})
const bounds = { perLane: 10, total: 100, perClaim: 50 }
const brief = (wants: readonly Want[]) =>
  wants.map(
    ({ stream, limit }) => `${stream.lane.name} ${stream.accountId} ${stream.class}: ${limit}`,
  )

/** As the dispatcher does when all that it asked for was there. */
function begin(lanes: ReturnType<typeof makeLanes>, wants: readonly Want[]): Lane[] {
  for (const { stream, limit } of wants) lanes.started(stream.lane, limit)
  return wants.flatMap(({ stream, limit }) => Array.from({ length: limit }, () => stream.lane))
}

t.test('lanes take their turns, and what is not due is not wanted', async (t) => {
  const lanes = makeLanes({ ...bounds, perLane: 1, total: 2, perClaim: 1 })
  lanes.note(due('a', 'x', transactional, 10))
  lanes.note(due('b', 'x', transactional, 5))
  t.same(lanes.wanted(4), [])
  t.equal(lanes.wakeAt(), 5)
  t.same(brief(lanes.wanted(10)), ['b x 0: 1'])
  t.same(brief(lanes.wanted(10)), ['a x 0: 1'])
  const [b] = lanes.wanted(10)
  if (b === undefined) throw new Error('b is due')
  lanes.started(b.stream.lane, 1)
  t.same(brief(lanes.wanted(10)), ['a x 0: 1'], 'b has no room')
  lanes.ended(b.stream.lane)
  t.same(brief([...lanes.wanted(10), ...lanes.wanted(10)]).sort(), ['a x 0: 1', 'b x 0: 1'])
})

t.test('a note during a claim is not lost', async (t) => {
  const lanes = makeLanes(bounds)
  lanes.note(due('a', 'x', transactional, 10))
  const [want] = lanes.wanted(10)
  if (want === undefined) throw new Error('a is due')
  want.stream.claiming = true
  lanes.note(due('a', 'x', transactional, 11))
  want.stream.claiming = false
  lanes.exhausted(want.stream, undefined)
  lanes.drop(want.stream.lane)
  t.same(lanes.wanted(10), [])
  t.same(brief(lanes.wanted(11)), ['a x 0: 10'])
})

t.test('accounts share a lane in turn, however much each has', async (t) => {
  const lanes = makeLanes({ ...bounds, perLane: 4 })
  for (const [at, account] of ['big', 'b', 'c'].entries()) {
    lanes.note(due('a', account, transactional, at))
  }
  const first = lanes.wanted(2)
  t.same(brief(first), ['a big 0: 2', 'a b 0: 1', 'a c 0: 1'])
  const running = begin(lanes, first)
  t.same(lanes.wanted(2), [])
  const turns: string[] = []
  for (let i = 0; i < 6; i++) {
    const lane = running.pop()
    if (lane === undefined) throw new Error('something runs')
    lanes.ended(lane)
    const wants = lanes.wanted(2)
    turns.push(...wants.map(({ stream }) => stream.accountId))
    running.push(...begin(lanes, wants))
  }
  t.same(turns, ['big', 'b', 'c', 'big', 'b', 'c'])
})

t.test('transactional before automation before campaign', async (t) => {
  const lanes = makeLanes({ ...bounds, perLane: 20 })
  for (const of of [2, 1, 0] as const) lanes.note(due('a', 'x', of))
  t.same(brief(lanes.wanted(0)), ['a x 0: 20'])
})

t.test('a fifth of the connections is for transactional mail alone', async (t) => {
  t.same([1, 2, 5, 10, 500].map(reserveOf), [0, 1, 1, 2, 100])
  const lanes = makeLanes({ ...bounds, perLane: 5, total: 8 })
  lanes.note(due('a', 'x', campaign))
  lanes.note(due('b', 'x', campaign))
  const wants = lanes.wanted(0)
  t.same(brief(wants), ['a x 2: 4', 'b x 2: 3'], 'of 5 a lane and of 8 in all')
  begin(lanes, wants)
  t.same(lanes.wanted(0), [])
  lanes.note(due('a', 'x', transactional))
  t.same(brief(lanes.wanted(0)), ['a x 0: 1'])
  const lone = makeLanes({ ...bounds, perLane: 1 })
  lone.note(due('a', 'x', campaign))
  t.same(brief(lone.wanted(0)), ['a x 2: 1'], 'with one connection priority alone decides')
})

t.test('a lane whose transactional mail was gone is not forgotten for its campaign', async (t) => {
  const lanes = makeLanes({ ...bounds, perLane: 2 })
  lanes.note(due('a', 'x', transactional))
  lanes.note(due('a', 'x', campaign))
  const [want, ...others] = lanes.wanted(0)
  if (want === undefined) throw new Error('it is due')
  t.same(brief([want, ...others]), ['a x 0: 2'])
  // Cancelled meanwhile: the claim finds nothing, so that nothing starts and nothing ends.
  lanes.exhausted(want.stream, undefined)
  lanes.drop(want.stream.lane)
  t.same(brief(lanes.wanted(0)), ['a x 2: 1'])
})

t.test('limits hold and nobody starves, whatever happens in which order', async (t) => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return seed % below
  }
  const limits = { perLane: 5, total: 12, perClaim: 6 }
  const lanes = makeLanes(limits)
  const queued = new Map<string, number>()
  const running: { lane: Lane; of: QueueClass }[] = []
  const count = (fits: (one: { lane: Lane; of: QueueClass }) => boolean) =>
    running.filter(fits).length
  let accepted = 0
  let ended = 0
  for (let step = 0; step < 20_000 || accepted > ended; step++) {
    if (step < 20_000 && random(3) === 0) {
      const item = due(`d${random(6)}`, `acc${random(3)}`, random(3) as QueueClass, step)
      const key = `${item.lane} ${item.accountId} ${item.class}`
      queued.set(key, (queued.get(key) ?? 0) + 1)
      accepted++
      lanes.note(item)
    }
    for (const { stream, limit } of lanes.wanted(step)) {
      const key = `${stream.lane.name} ${stream.accountId} ${stream.class}`
      const there = queued.get(key) ?? 0
      const taken = Math.min(there, limit)
      queued.set(key, there - taken)
      if (taken < limit) lanes.exhausted(stream, undefined)
      lanes.started(stream.lane, taken)
      for (let i = 0; i < taken; i++) running.push({ lane: stream.lane, of: stream.class })
      if (count((one) => one.lane === stream.lane) > limits.perLane) t.fail('too many in a lane')
      lanes.drop(stream.lane)
    }
    if (running.length > limits.total) t.fail('too many in all')
    const bulk = count((one) => one.of !== transactional)
    if (bulk > limits.total - reserveOf(limits.total)) t.fail('the reserve is used by others')
    if (running.length > 0 && random(2) === 0) {
      const [one] = running.splice(random(running.length), 1)
      if (one === undefined) continue
      lanes.ended(one.lane)
      lanes.drop(one.lane)
      ended++
    }
    if (step > 200_000) break
  }
  t.equal(ended, accepted, 'all had their turn')
})
