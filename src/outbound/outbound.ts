import {
  type Claimed,
  type RetriedLanes,
  releaseLeases,
  type StreamDue,
  type StreamKey,
  stopOf,
  streamsAfter,
} from '../deliveries/index.js'
import {
  type Admitted,
  classes,
  type DeliverySlot,
  explainGate,
  type Lane,
  type LiveGate,
  makeLanes,
  makePaths,
  makeRouting,
  openRelaySlots,
  openSiteSlots,
  type Stream,
  serverOf,
  smartHostsSite,
  standingSites,
  type ThreadStanding,
} from './admission/index.js'
import { makeAttempts } from './attempt/index.js'
import { claimApart, makeAhead } from './claims/index.js'
import { makeConnectionSlots } from './connections/index.js'
import type { OutboundDeps } from './deps.js'
import { openWays } from './egress/index.js'
import { openShaping } from './open-shaping.js'
import { makeReachability } from './reachability.js'
import { makeRecorder, type Recorded } from './recorder.js'
import { isDnsSite, makeEgressPools, makeRoutes, simulatorSite } from './routing/index.js'
import type { ShapingData, SiteName } from './shaping/index.js'
import { makeTlsCount } from './tls-sessions/index.js'

export interface Outbound {
  /** The doorbell: these streams have something that falls due then. */
  ring(due: readonly StreamDue[]): void
  /** Looks through the whole queue, as at the start. */
  scan(): Promise<void>
  /** New shaping files: limits change at once, what is under way and what was learned stays. */
  reshape(data: ShapingData): void
  /**
   * The operator had mail of these lanes made due, to be tried at once: at a suspended site one of them.
   * `all`: of too many to name.
   */
  retry(lanes: RetriedLanes): Promise<void>
  /** At which gate mail of this stream stands now; undefined when nothing of it is due here. */
  gateOf(key: StreamKey): LiveGate | undefined
  /** The busiest sites and accounts now. */
  standing(): ThreadStanding
  /** Stops claiming, lets attempts under way end within `graceMs`, breaks off the rest. */
  close(graceMs: number): Promise<void>
}

const maxPerClaim = 100
const streamsPerScan = 1_000
// Rings get lost and other processes write: the queue is looked through this often regardless.
const scanEveryMs = 30_000
const retryWriteMs = 1_000
// A lane whose MXs move is at its new site after this.
const routeAgainMs = 300_000
// So many destinations are looked up ahead of their turn, not a whole queue's.
const routedAhead = 100
// So many more of an account that wait for room in its share, so that those behind them are found.
const mostParked = 1_000

/**
 * One thread's share of the queue: finds the sites of what is due, claims as much as may start
 * there, runs the attempts and writes what came of them. See README.md for the invariants.
 */
export async function openOutbound(deps: OutboundDeps): Promise<Outbound> {
  const { store, clock, config, log, thread, meter } = deps
  const total = config.maxConnections
  const lanes = makeLanes()
  const connectionSlots = makeConnectionSlots(total, meter)
  const paths = makePaths({ total, perClaim: maxPerClaim, clock }, (gate, waiting) => {
    meter.count('posthorn_throttled_total', { gate })
    // Where it is connections that lack, one is free soon.
    if (gate === 'connections' || ahead.isEmpty()) return
    ahead.giveBack([...waiting.values()].flatMap((streams) => [...streams]))
  })
  const { egress, relays, ...ways } = await openWays(deps, connectionSlots, () => standAnew())
  const onRation = () => {
    paths.reopen('warm-up')
    work()
  }
  const { shaping, ...shapes } = await openShaping(deps, onRation, egress.refused)
  const { findRoute, forgetRoutes } = makeRoutes(deps, shaping)
  const poolOf = makeEgressPools(config)
  const tlsCount = deps.countTls ? makeTlsCount(deps) : undefined
  const attempts = makeAttempts(deps, {
    findRoute,
    connectionSlots,
    egress,
    relays,
    shaping,
    tlsCount,
  })
  const recorder = makeRecorder(deps)
  /** By their ids. */
  const inFlight = new Set<number>()
  /** Those whose result can be written in no way: they may have arrived. */
  const stuck = new Set<number>()
  const contact = makeReachability(clock.now())
  let workedAt = clock.now()
  let claiming = false
  let claimed = Promise.resolve()
  let closing = false
  let cancelWake = () => {}
  let onIdle = () => {}

  const routing = makeRouting({
    findRoute,
    log,
    onRouted(lane, site, addresses, streams) {
      lane.site = site
      const servers = addresses.map(serverOf)
      // Where it last connected to is known better than the order in which its hosts come.
      if (!servers.some((server) => server === lane.server)) lane.server = servers[0]
      lane.routedAt = clock.now()
      // A claim that was under way may have come to the end of one.
      for (const stream of streams) if (stream.state === 'due') standAt(stream, site)
      work()
    },
  })
  const standAt = (stream: Stream, site: SiteName) => {
    const pool = poolOf(stream.accountId, stream.class)
    const turned = site !== simulatorSite && egress.wayTo(site.key, stream.lane.name) === 'failover'
    if (turned && relays !== undefined) {
      const open = () => openRelaySlots(relays, pool)
      return paths.stand(stream, {
        key: `${pool.name} ${smartHostsSite}`,
        site: smartHostsSite,
        open,
      })
    }
    const key = `${pool.name} ${site.key}`
    paths.stand(stream, { key, site: site.key, open: () => openSiteSlots(shaping, site, pool) })
  }
  const isStale = ({ site, routedAt }: Lane, now: number) =>
    site === undefined || isDnsSite(site.key) || now - routedAt >= routeAgainMs
  const stand = (stream: Stream, now: number) => {
    const { lane } = stream
    if (lane.site === undefined || isStale(lane, now)) routing.add(stream)
    else standAt(stream, lane.site)
  }

  /** Ways or sites have changed: all get in line again. */
  const standAnew = () => {
    const now = clock.now()
    for (const stream of paths.leaveAll()) stand(stream, now)
    work()
  }

  const ahead = makeAhead({
    ...{ store, clock, log, thread },
    onExhausted(stream, nextDueAt) {
      stream.claiming = false
      paths.leave(stream)
      lanes.exhausted(stream, nextDueAt)
    },
    onReturned(stream, dueAt) {
      lanes.note({ ...keyOf(stream), dueAt })
      work()
    },
  })

  /** Begins what is claimed while there is room; then claims more. */
  const work = () => {
    if (closing || recorder.stuck() || (claiming && ahead.isEmpty())) return
    const now = clock.now()
    // The clock was set back: a gate that was to open at a time opens sooner than it said.
    if (now < workedAt) paths.reopen()
    workedAt = now
    for (const stream of lanes.wake(now)) stand(stream, now)
    routing.pump((of, accountId) => {
      const isAhead = paths.inLine(of) >= routedAhead || paths.parked(of, accountId) >= mostParked
      return !paths.isFull(of) && !isAhead
    })
    const isReady = (stream: Stream, slots: number) => slots < ahead.left(stream)
    const wants = paths.admit(now, claiming ? isReady : undefined)
    const short = wants.filter(beginReady)
    if (claiming) return
    if (short.length > 0) claimed = claimFor(short)
    else sleep()
  }

  /** Begins what was claimed ahead; true when there is something to claim. */
  const beginReady = (want: Admitted): boolean => {
    const { stream, slots } = want
    for (let slot = slots[0]; slot !== undefined; slot = slots[0]) {
      const delivery = ahead.take(stream)
      if (delivery === undefined) break
      slots.shift()
      run(stream, delivery, slot)
    }
    // It came to its end, and has left the line.
    if (stream.path === undefined) {
      for (const slot of slots.splice(0)) giveBack(slot)
      return false
    }
    return slots.length > 0 || ahead.isLow(stream)
  }

  const claimFor = async (asked: readonly Admitted[]) => {
    const wants = asked
      .map(({ stream, slots }) => ({
        stream,
        slots,
        limit: slots.length + ahead.wanted(stream),
      }))
      .filter(({ limit }) => limit > 0)
    if (wants.length === 0) return sleep()
    claiming = true
    for (const { stream } of wants) stream.claiming = true
    const limits = wants.map(({ stream, limit }) => ({ ...keyOf(stream), limit }))
    try {
      const now = clock.now()
      const claims = await claimApart(deps, limits)
      for (const [i, { stream, slots }] of wants.entries()) {
        const { taken: found = [], exhausted } = claims[i] ?? {}
        // A clock that was set forward ends leases before their attempts; they are just renewed.
        const isOurs = (id: number) => inFlight.has(id) || ahead.holds(stream, id) || stuck.has(id)
        const taken = found.filter(({ id }) => !isOurs(id))
        stream.claiming = false
        // After a stop nothing begins any more: `close` gives it back.
        const begun = closing ? [] : taken.slice(0, slots.length)
        const more = taken.slice(begun.length)
        if (more.length + ahead.left(stream) > 0) {
          // With some left it stays in line, though the table may have no more of it.
          if (exhausted !== undefined) stream.claiming = true
          ahead.keep(stream, more, exhausted)
        } else if (exhausted !== undefined) {
          paths.leave(stream)
          lanes.exhausted(stream, exhausted.nextDueAt)
        }
        if (stream.path !== undefined && isStale(stream.lane, now)) {
          paths.leave(stream)
          routing.add(stream)
        }
        for (const [j, slot] of slots.entries()) {
          const delivery = begun[j]
          if (delivery !== undefined) run(stream, delivery, slot)
          else giveBack(slot)
        }
        // A gate may have closed, or the lane's site be looked for, since they were asked for.
        const held = stream.path?.held[stream.class]
        const isStuck = held === undefined ? stream.path === undefined : held.gate !== 'connections'
        if (more.length > 0 && isStuck) ahead.giveBack([stream])
      }
      claiming = false
    } catch (error) {
      // The database cannot be written just now; the streams stay due.
      log.error({ error }, 'Deliveries could not be claimed')
      for (const { stream, slots } of wants) {
        stream.claiming = false
        for (const slot of slots) giveBack(slot)
      }
      clock.after(retryWriteMs, () => {
        claiming = false
        work()
      })
      return
    }
    work()
  }

  /** A bounce may have paused its account: what was claimed ahead of that does not leave. */
  const giveBackStopped = async (accountId: string) => {
    for (const stream of ahead.streamsOf(accountId)) {
      if ((await stopOf(store.read, stream)) !== undefined) ahead.giveBack([stream])
    }
  }

  const giveBack = (slot: DeliverySlot) => {
    slot.withdraw()
    paths.withdrawn(slot)
  }

  const run = (stream: Stream, delivery: Claimed, slot: DeliverySlot) => {
    const key = keyOf(stream)
    inFlight.add(delivery.id)
    ahead.began(stream)
    void attempts.attempt(delivery, slot).then(({ settlement, site, fault }) => {
      // What we broke off ourselves says nothing about the site.
      if (site === undefined || closing) giveBack(slot)
      else {
        slot.ended(site)
        paths.ended(slot)
        // The appliance's own servers say nothing about the way out.
        if (stream.lane.site !== simulatorSite) {
          contact.note(stream.lane.name, site, settlement?.reply ?? '', clock.now())
        }
      }
      if (settlement === undefined) {
        void ahead.giveBackBegun(stream, delivery).finally(() => {
          inFlight.delete(delivery.id)
          if (inFlight.size === 0) onIdle()
        })
        return
      }
      const done = (how: Recorded) => {
        inFlight.delete(delivery.id)
        if (how === 'stuck') stuck.add(delivery.id)
        if (settlement.kind === 'bounced') {
          giveBackStopped(stream.accountId).catch((error) =>
            log.error({ error }, 'Whether an account is paused could not be read'),
          )
        }
        if (settlement.kind === 'deferred') lanes.note({ ...key, dueAt: settlement.dueAt })
        if (inFlight.size === 0) onIdle()
        work()
      }
      recorder.record({ settlement, fault, done })
      work()
    })
  }

  const sleep = () => {
    cancelWake()
    const at = Math.min(lanes.wakeAt() ?? never, paths.wakeAt() ?? never)
    if (at < never) cancelWake = clock.after(Math.max(1, at - clock.now()), work)
  }

  const isMine = (lane: string) => shardOf(lane, deps.threads) === thread

  /** By lane and class: each is told once. */
  const leftAlone = new Set<string>()
  const leaveAlone = ({ lane, class: of, accountId }: StreamDue) => {
    const name = `${lane} ${of}`
    if (leftAlone.has(name)) return
    leftAlone.add(name)
    log.error({ lane, class: of, accountId }, 'Mail of a class that Posthorn does not know is left')
  }

  const scan = async () => {
    lanes.sweep(clock.now())
    let last: StreamDue | undefined
    do {
      const found = await streamsAfter(store.read, last, streamsPerScan)
      for (const due of found.filter(({ lane }) => isMine(lane))) {
        if (classes.includes(due.class)) lanes.note(due)
        else leaveAlone(due)
      }
      work()
      last = found.length < streamsPerScan ? undefined : found.at(-1)
      await new Promise((resolve) => setImmediate(resolve))
    } while (last !== undefined && !closing)
  }

  let cancelScan = () => {}
  // Nobody waits for the first one either: of a long queue it takes seconds, and mail leaves meanwhile.
  let scanning = Promise.resolve()
  const keepScanning = () => {
    scanning = scan()
      .catch((error) => log.error({ error }, 'The queue could not be read'))
      .finally(() => {
        if (!closing) cancelScan = clock.after(scanEveryMs, keepScanning)
      })
  }

  await store.write((tx) => releaseLeases(tx, thread, clock.now()))
  keepScanning()

  return {
    ring(due) {
      for (const item of due) if (isMine(item.lane)) lanes.note(item)
      work()
    },
    scan,
    reshape(data) {
      shaping.reload(data)
      // A table may be new for a domain: its site is worked out anew, also for what stands in line.
      forgetRoutes()
      lanes.forgetSites()
      standAnew()
    },
    async retry(names) {
      if (names === 'all') shaping.tryNow()
      else {
        const found = names.filter(isMine).map(async (name) => {
          // Where its mail stands in line now, and where it goes.
          const stands = lanes.siteOf(name)?.key
          if (stands !== undefined) shaping.tryNow(stands)
          const { site } = await findRoute(name)
          if (site.key !== stands) shaping.tryNow(site.key)
        })
        await Promise.all(found)
      }
      paths.reopen()
      await scan()
    },
    gateOf({ lane, class: of, accountId }) {
      const stream = lanes.find(lane, of, accountId)
      if (stream?.state !== 'due') return undefined
      const isRouting = routing.has(stream)
      // Of a stream that has mail claimed ahead, the gate is what holds that.
      const isClaiming = claiming && stream.claiming && ahead.left(stream) === 0
      return explainGate(stream, { isRouting, isClaiming, isFull: paths.isFull(of), total })
    },
    standing() {
      const { limitsOf } = shaping
      const sites = standingSites({
        paths: paths.all(),
        connections: connectionSlots.bySite,
        limitsOf,
      })
      return { ...sites, contact: contact.tell() }
    },
    async close(graceMs) {
      closing = true
      cancelScan()
      cancelWake()
      attempts.connections.close()
      relays?.close()
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve
        if (inFlight.size === 0) resolve()
      })
      const destroy = () => {
        attempts.connections.destroy()
        relays?.destroy()
      }
      const cancel = clock.after(graceMs, destroy)
      await claimed
      await ahead.close()
      await idle
      await scanning
      cancel()
      destroy()
      await attempts.close()
      await tlsCount?.close()
      await ways.close()
      await shapes.close()
    },
  }
}

const never = Number.POSITIVE_INFINITY

const keyOf = ({ lane, class: of, accountId }: Stream): StreamKey => ({
  lane: lane.name,
  class: of,
  accountId,
})

/** Which of the threads works a lane: the same one always, so that it alone knows the destination. */
export function shardOf(lane: string, threads: number): number {
  // FNV-1a
  let hash = 0x811c9dc5
  for (let i = 0; i < lane.length; i++) {
    hash = Math.imul(hash ^ lane.charCodeAt(i), 0x01000193)
  }
  return (hash >>> 0) % threads
}
