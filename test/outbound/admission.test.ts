import t, { type Test } from 'tap'
import { packageFile } from '../../src/config/index.js'
import type { Claimed } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import {
  type DeliverySlot,
  keyOf,
  makeAdmission,
  openSiteSlots,
  type Stream,
} from '../../src/outbound/admission/index.js'
import { type DirectProbe, makeDetour } from '../../src/outbound/attempt/detour.js'
import type { AttemptResult } from '../../src/outbound/attempt/result.js'
import { type Egress, onlyPrimary, type Relay } from '../../src/outbound/egress/index.js'
import { makeRelays } from '../../src/outbound/egress/relays.js'
import type { MailRoute } from '../../src/outbound/routing/index.js'
import {
  loadShaping,
  makeShaping,
  makeSite,
  makeWarmUp,
  noWarmUp,
  policyFor,
  type SiteName,
  type SiteOutcome,
} from '../../src/outbound/shaping/index.js'
import type { QueueClass } from '../../src/store/index.js'
import { seeded } from '../shaping/seeded.js'
import { FakeClock } from '../support/clock.js'
import { thoroughly } from '../support/thorough.js'

/*
 * The admission with the real shaping and the real detour around it, and everything else made up: mail comes, attempts
 * begin and end in any order, probes hang, ways change. Whatever happens, no mail waits where there is room for it.
 */
const data = loadShaping([packageFile('config/shaping.toml')])
const sources = ['192.0.2.1', '192.0.2.2']
const second = 1_000
const blocked = '550 5.7.1 Service unavailable, blocked using zen.spamhaus.org'

/** An attempt under way: where it is now, and what it holds. */
interface Running {
  phase: 'direct' | 'turned' | 'probe' | 'relay'
  claimed: Claimed
  slot: DeliverySlot
  site?: SiteOutcome | undefined
  relay?: Relay
  probe?: DirectProbe
}

const turns = sources.map((name) => ({ name, addresses: [name], heloName: 'out.test' }))

function openModel(seed: number) {
  const random = seeded(seed)
  const below = (n: number) => Math.floor(random() * n)
  const clock = new FakeClock()
  const pool = { name: 'both', turns }
  const rations: (() => void)[] = []
  const warmUp = makeWarmUp({
    clock,
    threads: 1,
    claim: () =>
      new Promise((resolve) => rations.push(() => resolve({ messages: 3, limited: true }))),
    onRation: () => admission.rationCame(),
  })
  const shaping = makeShaping({
    data,
    clock,
    random,
    thread: 0,
    threads: 1,
    warmUpOf: (name) => (name === sources[0] ? noWarmUp : warmUp),
  })
  const sites = ['one', 'two', 'three'].map(
    (name): SiteName => ({
      key: `mx.${name}.test`,
      provider: undefined,
      mx: undefined,
      domain: undefined,
    }),
  )
  const siteOf = (lane: string) => sites[Number(lane.slice(-1)) % sites.length] as SiteName
  const routeOf = (lane: string): MailRoute => ({ site: siteOf(lane), hosts: [] })
  const policy = { ...policyFor(data, siteOf('0')), automations: [] }
  const rooms = ['first', 'second'].map((name) => ({
    name,
    room: makeSite(policy, { clock, random }),
  }))
  const relays = makeRelays(rooms as unknown as Relay[])
  const away = new Set<string>()
  let isProbing = false
  const egress: Egress = {
    ...onlyPrimary,
    wayTo: (site) => (away.has(site) ? 'failover' : 'primary'),
    mayRelay: () => true,
    isProbeDue: () => isProbing,
    takeProbe: () => ({ ended() {} }),
  }
  const admission = makeAdmission({
    clock,
    log: silentLog,
    meter: silentMeter,
    total: 200,
    shaping,
    egress,
    relays,
    composing: { isCrowded: () => false },
    findRoute: async (lane) => routeOf(lane),
    forgetRoutes() {},
    poolOf: Object.assign(() => pool, { named: () => undefined, usual: pool, all: [pool] }),
    elsewhere: { of: () => undefined },
    orders: { of: () => ({}) },
    onOpened: () => {
      opened = true
    },
  })
  const detour = makeDetour({ egress, relays, shaping, onRoom: admission.roomAt })
  const queued = new Map<string, { lane: string; of: QueueClass; due: number[] }>()
  const running: Running[] = []
  let left = 0
  let opened = false

  const put = (lane: string, of: QueueClass, dueAt: number) => {
    const key = `${lane} ${of}`
    const stream = queued.get(key) ?? { lane, of, due: [] }
    queued.set(key, stream)
    stream.due.push(dueAt)
    stream.due.sort((a, b) => a - b)
    admission.note({ lane, class: of, accountId: 'x', dueAt })
  }
  const begin = (stream: Stream, slot: DeliverySlot) => {
    const { lane, class: of } = keyOf(stream)
    const claimed = { lane, class: of, accountId: 'x' } as Claimed
    const first = detour.first(claimed, slot, routeOf(lane))
    if (first.way === 'nowhere') throw new Error('There are routes to all')
    const { way: phase, ...taken } = first
    running.push({ phase, claimed, slot, ...taken })
  }
  /** As the claim loop does it, until nothing more may start. */
  const settle = async () => {
    for (let isOver = false; !isOver; ) {
      opened = false
      const { admitted } = admission.admit()
      for (const { stream, slots } of admitted) {
        const { due } = queued.get(`${stream.lane.name} ${stream.class}`) ?? { due: [] }
        const taken = due.filter((at) => at <= clock.now()).length
        for (const slot of slots.slice(0, taken)) begin(stream, slot)
        due.splice(0, Math.min(taken, slots.length))
        if (taken < slots.length) admission.exhausted(stream, due[0])
        for (const slot of slots.slice(taken)) admission.withdraw(slot)
      }
      // Look-ups end meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
      isOver = admitted.length === 0 && !opened
    }
  }
  const results: (() => Pick<AttemptResult, 'kind' | 'site'>)[] = [
    () => ({ kind: 'delivered', site: { kind: 'delivered', reply: '250 ok' } }),
    () => ({ kind: 'bounced', site: { kind: 'bounced', reply: blocked } }),
    () => ({ kind: 'deferred', site: { kind: 'connect-failed', cause: 'refused' } }),
    () => ({ kind: 'deferred', site: { kind: 'deferred', reply: '451 later' } }),
    () => ({ kind: 'deferred' }),
  ]
  /** As the breaker does on a receiver's words, an operator, or probes that got through. */
  const turn = (site: string, isAway: boolean) => {
    if (away.has(site) === isAway) return
    if (isAway) away.add(site)
    else away.delete(site)
    admission.standAnew()
  }
  const leave = ({ claimed, slot }: Running, kind: string, site: SiteOutcome | undefined) => {
    if (site === undefined) admission.withdraw(slot)
    else admission.ended(slot, site)
    if (kind === 'deferred') put(claimed.lane, claimed.class, clock.now() + 30 * second)
    else left++
  }
  /** One attempt comes one step further, with this result or any. */
  const goOn = (one: Running, how = results[below(results.length)]) => {
    const result = { reply: '', ...how?.() } as AttemptResult
    const { claimed, slot, relay, probe } = one
    if (one.phase === 'direct') {
      const route = routeOf(claimed.lane)
      const turned = detour.afterDirect(claimed, { slot, route, result })
      if (result.kind === 'bounced') turn(route.site.key, true)
      if (turned.next !== 'relay') return leave(one, result.kind, result.site)
      running.push({ ...one, phase: 'turned', relay: turned.relay, site: result.site })
    } else if (one.phase === 'turned' && relay !== undefined) {
      detour.afterTurned(claimed, relay, result.site)
      leave(one, result.kind, one.site)
    } else if (one.phase === 'probe' && probe !== undefined) {
      if (detour.afterProbe(probe, result)) leave(one, result.kind, undefined)
      else running.push({ ...one, phase: 'relay' })
    } else leave(one, result.kind, result.site)
  }
  return {
    pool,
    admission,
    shaping,
    clock,
    running,
    queued,
    settle,
    goOn,
    put,
    below,
    siteOf,
    left: () => left,
    finishOne: (how?: (typeof results)[number]) => {
      const [one] = running.splice(below(running.length), 1)
      if (one !== undefined) goOn(one, how)
    },
    delivered: results[0],
    refused: results[1],
    change() {
      turn(siteOf(String(below(3))).key, false)
    },
    probes(are: boolean) {
      isProbing = are
    },
    rationsCome() {
      for (const come of rations.splice(0)) come()
    },
    /** A stream with mail due for which there is room now. */
    stuck() {
      for (const { lane, of, due } of queued.values()) {
        if ((due[0] ?? Number.POSITIVE_INFINITY) > clock.now()) continue
        const site = siteOf(lane)
        const isAway = away.has(site.key)
        const held = isAway
          ? rooms.map(({ room }) => room.mayStart(of))
          : sources.map((name) => shaping.site(site, name).mayStart(of))
        // Of the smart hosts one that works is waited for; of the sources each may send.
        const first = held.find((one) => !isAway || one?.gate !== 'suspended')
        const isOpen = isAway
          ? held.some((one) => one?.gate !== 'suspended')
          : held.includes(undefined)
        if (isOpen && (!isAway || first === undefined)) return `${lane} of class ${of}`
      }
      return undefined
    },
  }
}

async function play(t: Test, seed: number) {
  const model = openModel(seed)
  const { below, settle, clock, put } = model
  let accepted = 0
  const actions = [
    () => {
      const [lane, of, some] = [`lane${below(3)}`, below(3) as QueueClass, 1 + below(6)]
      for (let i = 0; i < some; i++) put(lane, of, clock.now())
      accepted += some
    },
    () => model.finishOne(),
    () => model.finishOne(below(2) === 0 ? model.delivered : model.refused),
    () => below(4) === 0 && model.change(),
    () => model.probes(below(2) === 0),
    () => model.rationsCome(),
    () => clock.advance(below(3) === 0 ? 60 * second : 100),
  ]
  for (let step = 0; step < 400; step++) {
    await actions[below(actions.length)]?.()
    await settle()
    const stuck = model.stuck()
    t.equal(stuck, undefined, `mail waits at step ${step} though there is room`)
    if (stuck !== undefined) return
  }
  for (let step = 0; model.left() < accepted && step < 20_000; step++) {
    model.rationsCome()
    if (model.running.length > 0) model.finishOne(model.delivered)
    else await clock.advance(10 * second)
    await settle()
  }
  t.equal(model.left(), accepted, `all had their turn, seed ${seed}`)
}

for (const seed of thoroughly([1, 2, 3, 4, 5, 6, 7, 8], [...Array(100).keys()])) {
  t.test(`nothing waits where there is room, seed ${seed}`, (t) => play(t, seed))
}

t.test('a return that nobody told costs until the next scan', async (t) => {
  const model = openModel(1)
  const { pool, admission, shaping, settle, running, put, siteOf, clock, rationsCome } = model
  const slots = openSiteSlots(shaping, siteOf('lane0'), pool)
  const take = () => [0, 1, 2, 3, 4].flatMap(() => slots.take(0)).filter((one) => 'site' in one)
  const taken = take()
  rationsCome()
  await settle()
  taken.push(...take())
  t.equal(taken.length, 4, 'two from each source')
  put('lane0', 0, clock.now())
  await settle()
  for (const slot of taken) slot.withdraw()
  await settle()
  t.equal(running.length, 0)
  admission.sweep()
  await settle()
  t.equal(running.length, 1)
})
