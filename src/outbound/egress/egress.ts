import type { Clock } from '../../clock/index.js'
import { messageOf } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import type { Meter } from '../../metrics/index.js'
import type { Store, Tx } from '../../store/index.js'
import { tellOrders, tellWay } from './alarm.js'
import type { ProbeOutcome } from './breaker.js'
import { countProbe, tripOnRefusal, tripOnUnreached } from './decisions.js'
import { makeReachEvidence, type RefusedSite, type UnreachedSite } from './evidence.js'
import { makeProbes } from './probes.js'
import {
  everything,
  forgetUnreached,
  readScopes,
  readUnreached,
  type Scope,
  type Unreached,
} from './scopes.js'
import { viewOf } from './view.js'

/** Which way mail goes, as one outbound thread sees it; what it finds out counts for all of them. */
export interface Egress {
  /** `lane`: the recipient's domain, which an operator may have named instead of the site. */
  wayTo(site: string, lane: string): 'primary' | 'failover'
  /** False when the operator forbids smart hosts, even for mail for which our address is refused. */
  mayRelay(): boolean
  /** Whether one mail that would go by a smart host is to try the primary way first. */
  isProbeDue(site: string, lane: string): boolean
  /** Takes that probe, if no other mail has taken it meanwhile. */
  takeProbe(site: string, lane: string): Probe | undefined
  /** A connection to a site, for an account's mail, was opened the primary way, or could not be. */
  saw(seen: UnreachedSite, reached: boolean): void
  refused(refusal: RefusedSite): void
  close(): Promise<void>
}

/** One mail on its way to see whether the primary way works again. */
export interface Probe {
  /** `undefined`: the probe did not get far enough to tell anything. */
  ended(outcome: ProbeOutcome | undefined): void
}

/** What deciding on the way needs. */
export interface EgressOptions {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  /** How many sites have to fail, and within which time, before the trouble is taken for our own. */
  sites: number
  windowMs: number
  /** Some mail goes another way from now on. */
  onChange: () => void
  /** True for the one thread that shows the state in the metrics. */
  shown: boolean
}

// How often each thread looks at what the others found, and at the operator's word.
const lookEveryMs = 2_000

/** Without a smart host there is one way. */
export const onlyPrimary: Egress = {
  wayTo: () => 'primary',
  mayRelay: () => false,
  isProbeDue: () => false,
  takeProbe: () => undefined,
  saw() {},
  refused() {},
  close: async () => {},
}

/** Begins with what the last run and the other threads know. */
export async function openEgress(options: EgressOptions): Promise<Egress> {
  const { store, clock, log, meter } = options
  const node = store.node.number
  const evidence = makeReachEvidence(options.windowMs)
  const probes = makeProbes(clock)
  let view = viewOf([])
  let unreached: Unreached = { sites: 0, accounts: 0, firstAt: 0 }
  let cancelLook = () => {}
  let closed = false
  /** Writes under way. */
  const writes = new Set<Promise<void>>()

  const refresh = async () => {
    view = viewOf(await readScopes(store.read, node))
    const now = clock.now()
    unreached = await readUnreached(store.read, { since: now - options.windowMs, now, node })
    if (options.shown) show()
  }
  const refreshAndTurn = async () => {
    const before = view
    await refresh()
    if (options.shown) tellOrders(log, before, view)
    if (view.ways !== before.ways) options.onChange()
  }
  const show = () => {
    const away = view.scopes.filter(({ scope }) => view.wayTo(scope, scope) === 'failover')
    const all = away.some(({ scope }) => scope === everything) ? 1 : 0
    meter.gauge('posthorn_failover', { scope: 'everything' }, all)
    meter.gauge('posthorn_failover', { scope: 'sites' }, away.length - all)
  }

  /** Writes what `work` decides on the evidence, and tells what changed; nobody waits for it. */
  const decide = (work: (tx: Tx, now: number) => Promise<Scope[]>) => {
    const done = store
      .write((tx) => work(tx, clock.now()))
      .then(async (changes) => {
        for (const scope of changes) tellWay(log, scope, view)
        if (changes.length > 0) await refreshAndTurn()
      })
      .catch((error) => log.error({ cause: messageOf(error) }, 'Failover: no decision was written'))
      .finally(() => writes.delete(done))
    writes.add(done)
  }
  /** Shares what this thread found, and checks whether it is enough together with what the others found. */
  const weigh = () => {
    const sites = evidence.take(clock.now())
    const { reachedAt } = evidence
    // A time that lies ahead comes from a clock that was set back since, and does not count.
    const isReached = unreached.firstAt <= reachedAt && reachedAt <= clock.now()
    if (unreached.sites > 0 && isReached) {
      decide(async (tx) => {
        await forgetUnreached(tx, { node, until: reachedAt })
        return []
      })
    }
    if (sites.length === 0 && unreached.sites < options.sites) return
    decide((tx, now) => tripOnUnreached(tx, sites, { now, node, ...options }))
  }
  const look = () => {
    cancelLook = clock.after(lookEveryMs, () => {
      weigh()
      const done = refreshAndTurn()
        .catch((error) => log.error({ cause: messageOf(error) }, 'Failover: no state was read'))
        .finally(() => {
          writes.delete(done)
          if (!closed) look()
        })
      writes.add(done)
    })
  }

  await refresh()
  look()

  return {
    wayTo: (site, lane) => view.wayTo(site, lane),
    mayRelay: () => !view.isForbidden,
    isProbeDue: (site, lane) => probes.due(view.broken(site, lane)).length > 0,
    takeProbe(site, lane) {
      const names = probes.due(view.broken(site, lane))
      if (names.length === 0) return undefined
      probes.begin(names)
      return {
        ended(outcome) {
          probes.end(names)
          if (outcome !== undefined)
            decide((tx, at) => countProbe(tx, names, outcome, { now: at, node }))
        },
      }
    },
    saw: (seen, reached) => evidence.add(seen, reached, clock.now()),
    refused(refusal) {
      decide((tx, now) => tripOnRefusal(tx, refusal, { now, node, sites: options.sites }))
    },
    async close() {
      closed = true
      cancelLook()
      await Promise.all(writes)
    },
  }
}
