import t from 'tap'
import type { DeliverySlot, DeliverySlots } from '../../src/outbound/admission/delivery-slots.js'
import { makeLanes } from '../../src/outbound/admission/lanes.js'
import { type Admitted, makePaths, type PathBounds } from '../../src/outbound/admission/paths.js'
import type { Stream } from '../../src/outbound/admission/waiting.js'
import { type Held, reserveOf } from '../../src/outbound/shaping/index.js'
import type { QueueClass } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'

const transactional = 0
const campaign = 2
const due = (lane: string, accountId = 'x', of: QueueClass = transactional, dueAt = 0) => ({
  lane,
  class: of,
  accountId,
  dueAt,
})
const bounds = { total: 100, perClaim: 50, isCrowded: () => false }
const brief = (wants: readonly Admitted[]) =>
  wants.map(
    ({ stream, slots }) =>
      `${stream.lane.name} ${stream.accountId} ${stream.class}: ${slots.length}`,
  )

/** Lanes and paths together, at sites of `perSite` connections with the usual reserve. */
function schedule(
  options: Partial<PathBounds> & {
    perSite?: number
    siteOf?: SiteOf
    answers?: (site: string) => boolean
  } = {},
) {
  const { perSite = 10, siteOf = (lane) => lane, answers = () => true } = options
  const lanes = makeLanes()
  const gates: string[] = []
  const clock = new FakeClock(0)
  const paths = makePaths({ ...bounds, clock, ...options }, (gate) => gates.push(gate))
  const busy = new Map<string, { all: number; bulk: number; closed?: Held }>()
  const at = (site: string) => {
    const known = busy.get(site) ?? { all: 0, bulk: 0 }
    busy.set(site, known)
    return known
  }
  const full: Held = { gate: 'connections', until: null, why: 'full' }
  const open = (site: string): DeliverySlots => ({
    take(of) {
      const state = at(site)
      const bulk = of !== transactional
      const { closed } = state
      if (closed !== undefined) return closed
      if (state.all >= perSite) return full
      if (bulk && state.bulk >= perSite - reserveOf(perSite)) return full
      state.all++
      if (bulk) state.bulk++
      const withdraw = () => {
        state.all--
        if (bulk) state.bulk--
      }
      return {
        siteKey: site,
        site: { answers: answers(site) },
        withdraw,
      } as unknown as DeliverySlot
    },
  })
  const stand = (stream: Stream) => {
    const site = siteOf(stream.lane.name)
    paths.stand(stream, { key: site, site, open: () => open(site) })
  }
  return {
    lanes,
    paths,
    at,
    gates,
    note: lanes.note,
    wanted(now: number) {
      for (const stream of lanes.wake(now)) stand(stream)
      return paths.admit(now)
    },
    end(slot: DeliverySlot, of: QueueClass) {
      const { siteKey } = slot
      at(siteKey).all--
      if (of !== transactional) at(siteKey).bulk--
      paths.ended(slot)
    },
    exhausted(stream: Stream, dueAt?: number) {
      paths.leave(stream)
      lanes.exhausted(stream, dueAt)
    },
  }
}
type SiteOf = (lane: string) => string

const only = (wants: readonly Admitted[]): Admitted => {
  const [want, ...others] = wants
  if (want === undefined || others.length > 0) throw new Error(`${wants.length} are wanted`)
  return want
}

t.test('lanes take their turns, and what is not due is not wanted', async (t) => {
  const { note, wanted, lanes, end } = schedule({ perSite: 1, total: 2, perClaim: 1 })
  note(due('a', 'x', transactional, 10))
  note(due('b', 'x', transactional, 5))
  t.same(wanted(4), [])
  t.equal(lanes.wakeAt(), 5)
  const b = only(wanted(10))
  t.same(brief([b]), ['b x 0: 1'])
  t.same(brief(wanted(10)), ['a x 0: 1'], 'b has no room')
  t.same(wanted(10), [], 'nobody has')
  for (const slot of b.slots) end(slot, transactional)
  t.same(brief(wanted(10)), ['b x 0: 1'])
})

t.test('a note during a claim is not lost', async (t) => {
  const { note, wanted, exhausted } = schedule()
  note(due('a', 'x', transactional, 10))
  const { stream } = only(wanted(10))
  stream.claiming = true
  note(due('a', 'x', transactional, 11))
  stream.claiming = false
  exhausted(stream)
  t.same(wanted(10), [])
  t.equal(wanted(11).length, 0, 'its slots are still taken')
})

t.test('accounts share a site in turn, over all of its domains', async (t) => {
  const { note, wanted, end } = schedule({ perSite: 4, siteOf: () => 'mx' })
  for (const [at, account] of ['big', 'b', 'c'].entries()) {
    note(due(`${account}.test`, account, transactional, at))
  }
  // What has many domains there has no more of it.
  for (let i = 0; i < 50; i++) note(due(`big${i}.test`, 'big', transactional, 0))
  const running = wanted(2).flatMap(({ stream, slots }) =>
    slots.map((slot) => ({ slot, account: stream.accountId })),
  )
  t.same(running.map(({ account }) => account).sort(), ['b', 'big', 'big', 'c'])
  const turns: string[] = []
  for (let i = 0; i < 6; i++) {
    const one = running.pop()
    if (one === undefined) throw new Error('something runs')
    end(one.slot, transactional)
    const { stream, slots } = only(wanted(2))
    turns.push(stream.accountId)
    for (const slot of slots) running.push({ slot, account: stream.accountId })
  }
  t.same(turns.slice(0, 3), turns.slice(3))
  t.same(turns.slice(0, 3).sort(), ['b', 'big', 'c'])
})

t.test('while a class is crowded nothing of it takes a slot, nor of those behind it', async (t) => {
  let crowded: QueueClass | undefined = campaign
  const { note, wanted, at } = schedule({
    isCrowded: (of) => crowded !== undefined && of >= crowded,
  })
  note(due('a', 'x', campaign))
  note(due('b', 'x', transactional))
  t.same(
    wanted(1).map(({ stream }) => stream.lane.name),
    ['b'],
  )
  t.equal(at('a').all, 0)
  crowded = transactional
  note(due('c', 'x', transactional))
  t.same(wanted(1), [])
  crowded = undefined
  const later = wanted(1).map(({ stream }) => stream.lane.name)
  t.ok(later.includes('a') && later.includes('c'), 'they stand in line still')
})

t.test('transactional before automation before campaign', async (t) => {
  const { note, wanted } = schedule({ perSite: 20 })
  for (const of of [2, 1, 0] as const) note(due('a', 'x', of))
  t.same(brief(wanted(0)), ['a x 0: 20'])
})

t.test('a fifth of the connections is for transactional mail alone', async (t) => {
  t.same([1, 2, 5, 10, 500].map(reserveOf), [0, 1, 1, 2, 100])
  const { note, wanted } = schedule({ perSite: 5, total: 8 })
  note(due('a', 'x', campaign))
  note(due('b', 'x', campaign))
  t.same(brief(wanted(0)), ['a x 2: 4', 'b x 2: 3'], 'of 5 a site and of 8 in all')
  t.same(wanted(0), [])
  note(due('a', 'x', transactional))
  t.same(brief(wanted(0)), ['a x 0: 1'])
  const lone = schedule({ perSite: 1 })
  lone.note(due('a', 'x', campaign))
  t.same(brief(lone.wanted(0)), ['a x 2: 1'], 'with one connection priority alone decides')
})

t.test('a lane whose transactional mail was gone is not forgotten for its campaign', async (t) => {
  const { note, wanted, exhausted, end } = schedule({ perSite: 2 })
  note(due('a', 'x', transactional))
  note(due('a', 'x', campaign))
  const { stream, slots } = only(wanted(0))
  t.equal(slots.length, 2)
  // Cancelled meanwhile: the claim finds nothing, and the slots are given back.
  exhausted(stream)
  for (const slot of slots) end(slot, transactional)
  t.same(brief(wanted(0)), ['a x 2: 1'])
})

t.test('a closed gate is asked again when it said, not for each mail or ring', async (t) => {
  const { note, wanted, at, paths, gates, lanes } = schedule()
  at('a').closed = { gate: 'rate', until: 50, why: '1 message a minute' }
  for (let i = 0; i < 1_000; i++) note(due('a', `account ${i}`, campaign))
  let asked = 0
  const state = at('a')
  Object.defineProperty(state, 'closed', {
    get() {
      asked++
      return { gate: 'rate', until: 50, why: '1 message a minute' }
    },
    configurable: true,
  })
  for (let now = 0; now < 50; now++) t.same(wanted(now), [])
  t.equal(asked, 1)
  t.same(gates, ['rate'])
  t.equal(paths.wakeAt(), 50)
  t.equal(lanes.wakeAt(), undefined)
  Object.defineProperty(state, 'closed', { value: undefined })
  t.equal(wanted(50).length, 8)
  t.equal(paths.wakeAt(), undefined, 'nothing is left behind')
})

t.test('what is closed for campaigns may be open for transactional mail', async (t) => {
  const { note, wanted, paths } = schedule({ perSite: 5 })
  note(due('a', 'x', campaign))
  t.same(brief(wanted(0)), ['a x 2: 4'])
  t.same(wanted(0), [])
  note(due('a', 'y', transactional))
  t.same(brief(wanted(0)), ['a y 0: 1'])
  t.equal(paths.inFlight, 5)
})

t.test('a mail takes the slots that it may need, and leaves no closed gate behind', async (t) => {
  const { note, wanted, exhausted, paths } = schedule({ perSite: 10 })
  note(due('a', 'x', campaign))
  wanted(0)
  note(due('a', 'y', transactional))
  const { stream, slots } = only(wanted(0))
  t.equal(slots.length, 2, 'all that are left: nobody knows yet how many mails there are')
  // There was one, which is under way.
  exhausted(stream)
  for (const slot of slots.slice(1)) {
    slot.withdraw()
    paths.withdrawn(slot)
  }
  note(due('a', 'z', transactional))
  t.same(brief(wanted(0)), ['a z 0: 1'], 'the next one waits for no attempt to end')
})

t.test('what waits for a ration is asked again when one has come', async (t) => {
  const { note, wanted, at, paths } = schedule()
  at('a').closed = { gate: 'warm-up', until: null, why: 'Asking for a ration' }
  note(due('a'))
  t.same(wanted(0), [])
  delete at('a').closed
  t.same(wanted(0), [], 'nobody looks before')
  paths.reopen('rate')
  t.same(wanted(0), [])
  paths.reopen('warm-up')
  t.same(brief(wanted(0)), ['a x 0: 10'])
})

t.test('sites that have not answered yet leave room for those that have', async (t) => {
  const heard = new Set(['good'])
  const { note, wanted, end, paths } = schedule({
    total: 16,
    perClaim: 100,
    perSite: 2,
    answers: (site) => heard.has(site),
  })
  for (let i = 0; i < 20; i++) note(due(`dead${i}`, 'x', transactional, i))
  note(due('good', 'x', transactional, 99))
  const begun = wanted(99)
  const placesOf = (wants: readonly Admitted[], name: string) =>
    wants.filter(({ stream }) => stream.lane.name.startsWith(name)).flatMap(({ slots }) => slots)
  const dead = placesOf(begun, 'dead')
  t.equal(dead.length, 9, 'three quarters of three quarters of 16: they are of one account')
  t.ok(dead.at(-1)?.hurried, 'and some of them are told to hurry')
  t.equal(placesOf(begun, 'good').length, 2)
  t.ok(paths.parked(transactional, 'x') > 10)
  t.equal(paths.inLine(transactional), 0, 'others are looked for')

  note(due('new', 'y', transactional, 99))
  t.same(brief(wanted(99)), ['new y 0: 2'], 'another account has its own share')

  // One by one they turn out to be dead, and all have their turn.
  const tried = new Set(begun.map(({ stream }) => stream.lane.name))
  for (let ended = 0; ended < 100 && tried.size < 21; ended++) {
    const slot = dead.shift()
    if (slot !== undefined) end(slot, transactional)
    for (const { stream, slots } of wanted(99)) {
      tried.add(stream.lane.name)
      dead.push(...slots)
    }
  }
  t.equal(tried.size, 21)
})

t.test('limits hold and nobody starves, whatever happens in which order', async (t) => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return seed % below
  }
  const limits = { perSite: 5, total: 12, perClaim: 6 }
  const { note, wanted, exhausted, end, at, paths } = schedule({
    ...limits,
    siteOf: (lane) => (Number(lane.slice(1)) < 3 ? 'shared' : lane),
  })
  const queued = new Map<string, number>()
  const running: { slot: DeliverySlot; of: QueueClass }[] = []
  let accepted = 0
  let ended = 0
  for (let step = 0; step < 20_000 || accepted > ended; step++) {
    if (step < 20_000 && random(3) === 0) {
      const item = due(`d${random(6)}`, `acc${random(3)}`, random(3) as QueueClass, step)
      const key = `${item.lane} ${item.accountId} ${item.class}`
      queued.set(key, (queued.get(key) ?? 0) + 1)
      accepted++
      note(item)
    }
    for (const { stream, slots } of wanted(step)) {
      const key = `${stream.lane.name} ${stream.accountId} ${stream.class}`
      const there = queued.get(key) ?? 0
      const taken = Math.min(there, slots.length)
      queued.set(key, there - taken)
      if (taken < slots.length) exhausted(stream)
      for (const [i, slot] of slots.entries()) {
        if (i < taken) running.push({ slot, of: stream.class })
        else end(slot, stream.class)
      }
    }
    if (running.length > limits.total) t.fail('too many in all')
    for (const site of ['shared', 'd3', 'd4', 'd5']) {
      if (at(site).all > limits.perSite) t.fail('too many at a site')
    }
    const bulk = running.filter((one) => one.of !== transactional).length
    if (bulk > limits.total - reserveOf(limits.total)) t.fail('the reserve is used by others')
    if (running.length > 0 && random(2) === 0) {
      const [one] = running.splice(random(running.length), 1)
      if (one === undefined) continue
      end(one.slot, one.of)
      ended++
    }
    if (step > 200_000) break
  }
  t.equal(ended, accepted, 'all had their turn')
  t.equal(paths.inFlight, 0)
})
