import type { Clock } from '../../clock/index.js'
import { messageOf } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import type { Meter } from '../../metrics/index.js'
import type { Store, Tx } from '../../store/index.js'
import { tellOrders, tellWay } from './alarm.js'
import { type Breaker, isProbing, type ProbeOutcome, probed, trip } from './breaker.js'
import { makeReachEvidence } from './evidence.js'
import {
  everything,
  forgetOldScopes,
  forgetUnreached,
  noteUnreached,
  readScope,
  readScopes,
  readUnreached,
  type Scope,
  saveScope,
  type Unreached,
} from './record.js'
import { viewOf } from './view.js'

/** Which way mail goes, as one outbound thread sees it; what it finds out counts for all of them. */
export interface Egress {
  /** `lane`: the recipient's domain, which an operator may have named instead of the site. */
  wayTo(site: string, lane: string): 'primary' | 'failover'
  /** False when the operator forbids it: not even mail that our address is refused for. */
  mayRelay(): boolean
  /** Whether one mail that would go by a smart host shall try the primary way first. */
  isProbeDue(site: string, lane: string): boolean
  /** Takes that probe, if nobody has meanwhile. */
  takeProbe(site: string, lane: string): Probe | undefined
  /** A connection to a site was opened the primary way, or could not be. */
  saw(site: string, reached: boolean): void
  /** A site says that our address is blocked: the failover way until then at least. */
  refused(site: string, reply: string, until: number): void
  close(): Promise<void>
}

/** One mail on its way to see whether the primary way works again. */
export interface Probe {
  /** `undefined`: it did not get as far as to tell anything. */
  ended(outcome: ProbeOutcome | undefined): void
}

export interface EgressOptions {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  /** How many sites have to fail before it is taken for our own trouble, and within which time. */
  sites: number
  windowMs: number
  /** Some mail goes another way from now on. */
  onChange: () => void
  /** One thread of all shows the state in the metrics. */
  shown: boolean
}

// So often each thread looks at what the others found, and at the operator's word.
const lookEveryMs = 2_000
/** Failures all within a moment may be one cable; other threads, too, need time to say 'reached'. */
const soberingMs = 10_000
const probeEveryMs = 15_000
/** How long a return is remembered. */
const keptMs = 86_400_000

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

/** Begins with what the last run, and the other threads, know. */
export async function openEgress(options: EgressOptions): Promise<Egress> {
  const { store, clock, log, meter } = options
  const evidence = makeReachEvidence(options.windowMs)
  const probes = new Map<string, { busy: boolean; nextAt: number }>()
  let view = viewOf([])
  let unreached: Unreached = { sites: 0, firstAt: 0 }
  let cancelLook = () => {}
  let closed = false
  /** Writes under way. */
  const writes = new Set<Promise<void>>()

  /** The scopes for which a mail to the site would be a probe; none unless one is due for all of them. */
  const dueProbes = (site: string, lane: string): string[] => {
    const now = clock.now()
    const broken = view.broken(site, lane)
    const due = broken.every((scope) => {
      const { busy = false, nextAt = 0 } = probes.get(scope.scope) ?? {}
      return isProbing(scope, now) && !busy && now >= nextAt
    })
    return due ? broken.map(({ scope }) => scope) : []
  }

  const refresh = async () => {
    view = viewOf(await readScopes(store.read))
    unreached = await readUnreached(store.read, clock.now() - options.windowMs)
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

  /** Writes what `work` makes of the evidence, and tells what changed; nobody waits for it. */
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
  const change = async (tx: Tx, scope: string, next: (before: Breaker) => Breaker) => {
    const before = await readScope(tx, scope)
    const after = next(before)
    if (after === before) return []
    await saveScope(tx, { ...before, ...after })
    return before.way === after.way ? [] : [{ ...before, ...after }]
  }
  const tripAll = async (tx: Tx, now: number, evidence: Parameters<typeof trip>[1]) => {
    await forgetUnreached(tx, now)
    return await change(tx, everything, (before) => trip(before, evidence, now))
  }

  /** Shares what this thread found, and sees whether it is enough together with what others did. */
  const weigh = () => {
    const sites = evidence.take(clock.now())
    const { reachedAt } = evidence
    if (unreached.sites > 0 && unreached.firstAt <= reachedAt) {
      decide(async (tx) => {
        await forgetUnreached(tx, reachedAt)
        return []
      })
    }
    if (sites.length === 0 && unreached.sites < options.sites) return
    decide(async (tx, now) => {
      const since = now - options.windowMs
      if (sites.length > 0) await noteUnreached(tx, sites, { now, since })
      const found = await readUnreached(tx, since)
      const sober = now - found.firstAt >= soberingMs
      if (found.sites < options.sites || !sober) return []
      const why = `${found.sites} sites in a row gave no connection, and none did`
      return await tripAll(tx, now, { cause: 'unreached', why })
    })
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
    isProbeDue: (site, lane) => dueProbes(site, lane).length > 0,
    takeProbe(site, lane) {
      const now = clock.now()
      const names = dueProbes(site, lane)
      if (names.length === 0) return undefined
      for (const name of names) probes.set(name, { busy: true, nextAt: now + probeEveryMs })
      return {
        ended(outcome) {
          for (const name of names) probes.set(name, { busy: false, nextAt: now + probeEveryMs })
          if (outcome === undefined) return
          decide(async (tx, at) => {
            const all: Scope[] = []
            for (const name of names) {
              all.push(...(await change(tx, name, (before) => probed(before, outcome, at))))
            }
            return all
          })
        },
      }
    },
    saw: (site, reached) => evidence.add(site, reached, clock.now()),
    refused(site, reply, until) {
      decide(async (tx, now) => {
        const why = `the receiver answered: ${reply.replace(/\s+/g, ' ').slice(0, 200)}`
        const changes = await change(tx, site, (before) =>
          trip(before, { cause: 'refused', why, until }, now),
        )
        await forgetOldScopes(tx, now - keptMs)
        const others = (await readScopes(tx)).filter(
          ({ scope, way, cause }) =>
            scope !== everything && way === 'failover' && cause === 'refused',
        )
        if (others.length < options.sites) return changes
        const all = `${others.length} sites refuse our address; the last one, ${site}: ${why}`
        return [...changes, ...(await tripAll(tx, now, { cause: 'refused', why: all, until }))]
      })
    },
    async close() {
      closed = true
      cancelLook()
      await Promise.all(writes)
    },
  }
}
