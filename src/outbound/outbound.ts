import {
  type LiveGate,
  type RetriedLanes,
  releaseLeases,
  type StreamDue,
  type StreamKey,
} from '../deliveries/index.js'
import { queueClass } from '../store/index.js'
import {
  type Admission,
  keyOf,
  makeAdmission,
  makeComposingRoom,
  type OutboundStanding,
  type Stream,
} from './admission/index.js'
import { makeAttempts } from './attempt/index.js'
import {
  makeAhead,
  makeClaimLoop,
  makeQueueScan,
  makeReachability,
  makeRuns,
  type Reachability,
} from './claims/index.js'
import { makeConnectionSlots } from './connections/index.js'
import type { OutboundDeps } from './deps.js'
import { openWays } from './egress/index.js'
import { openShaping } from './open-shaping.js'
import { makeOrders } from './orders/index.js'
import { makeEgressPools, makePoolsElsewhere, makeRoutes } from './routing/index.js'
import type { ShapingData } from './shaping/index.js'
import { shutDown } from './shut-down.js'
import { makeTlsCount } from './tls-sessions/index.js'

/** One thread of the MTA. */
export interface Outbound {
  /** The doorbell: these streams have something that falls due then. */
  ring(due: readonly StreamDue[]): void
  /** Looks through the whole queue, as at the start. */
  scan(): Promise<void>
  /** New shaping files: limits change at once; attempts under way and what was learned stay. */
  reshape(data: ShapingData): void
  /**
   * The operator had mail of these lanes made due, to be tried at once; at a suspended site one mail is tried. `all`:
   * there are too many lanes to name.
   */
  retry(lanes: RetriedLanes): Promise<void>
  /** At which gate mail of this stream stands now; undefined when nothing of it is due here. */
  gateOf(key: StreamKey): LiveGate | undefined
  /** The busiest sites and accounts now. */
  standing(): ThreadStanding
  /** Stops claiming, lets attempts under way end within `graceMs`, breaks off the rest. */
  close(graceMs: number): Promise<void>
}

/** What a thread tells about itself. */
export interface ThreadStanding extends OutboundStanding {
  contact: Reachability
}

/**
 * One thread's share of the queue, put together: the admission says what may start, the claim loop takes it from the
 * queue, the runs try it and write the result. See README.md for the invariants.
 */
export async function openOutbound(deps: OutboundDeps): Promise<Outbound> {
  const { store, clock, config, log, thread, meter } = deps
  const connectionSlots = makeConnectionSlots(config.maxConnections, meter)
  const { egress, relays, ...ways } = await openWays(deps, connectionSlots, () => {
    admission.standAnew()
  })
  const { shaping, ...learned } = await openShaping(
    deps,
    { onRation: () => admission.rationCame(), onBrake: () => admission.brakesChanged() },
    egress.refused,
  )
  const orders = await makeOrders(deps, () => admission.standAnew())
  const routes = makeRoutes(deps, shaping)
  const pools = makeEgressPools(config, deps.unnamedSource)
  const elsewhere = await makePoolsElsewhere<Stream>(deps, pools.all, {
    onChange: () => admission.standAnew(),
    onMoved: (stream) => admission.exhausted(stream, undefined),
  })
  const composing = makeComposingRoom(clock, () => claims.turnSoon())
  const admission: Admission = makeAdmission({
    clock,
    log,
    meter,
    total: config.maxConnections,
    composing,
    ...routes,
    poolOf: pools,
    elsewhere,
    orders,
    shaping,
    egress,
    relays,
    onOpened: () => claims.turn(),
  })
  const ahead = makeAhead({
    store,
    clock,
    log,
    thread,
    onExhausted: admission.exhausted,
    onReturned(stream, dueAt) {
      admission.note({ ...keyOf(stream), dueAt })
      claims.turn()
    },
  })
  const tlsCount = deps.countTls ? makeTlsCount(deps) : undefined
  const { findRoute } = routes
  const outward = { findRoute, connectionSlots, egress, relays, shaping, tlsCount, composing }
  const onRoom = (site: string) => {
    admission.roomAt(site)
    claims.turnSoon()
  }
  const attempts = makeAttempts(deps, { onRoom, ...outward })
  const reachability = makeReachability(clock.now())
  const runs = makeRuns(deps, {
    admission,
    ahead,
    attempts,
    composing,
    reachability,
    onEnded: () => claims.turnSoon(),
  })
  const claims = makeClaimLoop(deps, { admission, ahead, runs })
  const scan = makeQueueScan(deps, admission, claims.turn)

  await store.write((tx) => releaseLeases(tx, { thread, node: store.node, now: clock.now() }))
  // Nobody waits for the first scan: with a long queue it takes seconds, and mail leaves meanwhile.
  scan.start()
  learned.watch()

  return {
    ring(due) {
      const mine = due.filter(({ lane }) => scan.isMine(lane))
      for (const item of mine) admission.note(item)
      if (mine.some((item) => item.class === queueClass.transactional)) claims.hurry()
      claims.turn()
    },
    scan: scan.scan,
    reshape: admission.reshape,
    async retry(names) {
      await orders.refresh()
      await admission.tryNow(names === 'all' ? names : names.filter(scan.isMine))
      await scan.scan()
    },
    gateOf: (key) => admission.explain(key, claims.isClaiming),
    standing: () => ({
      ...admission.standing(connectionSlots.bySite),
      contact: reachability.tell(),
    }),
    close: (graceMs) =>
      shutDown(
        {
          clock,
          scan,
          claims,
          runs,
          ahead,
          sessions: [attempts.connections, ...(relays === undefined ? [] : [relays])],
          last: [
            orders,
            elsewhere,
            attempts,
            ...(tlsCount === undefined ? [] : [tlsCount]),
            ways,
            learned,
          ],
        },
        graceMs,
      ),
  }
}
