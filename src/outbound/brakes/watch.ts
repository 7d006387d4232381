import { dayNumber, repeat } from '../../clock/index.js'
import { messageOf } from '../../errors/index.js'
import { makeSeldom } from '../../log/index.js'
import type { SiteBrakeRow } from '../../store/index.js'
import type { OutboundDeps } from '../deps.js'
import { lasts, type Policy, type Shaping } from '../shaping/index.js'
import { complainedOver, takeComplaints } from './complaints.js'
import { makeDayCounts } from './day-counts.js'
import { usualDays, usualOf } from './days.js'
import { type BrakesInForce, siteKey } from './in-force.js'
import {
  addSeen,
  isOld,
  isOverUsual,
  openWindow,
  paceOf,
  type SeenWindow,
  suspected,
} from './seen.js'
import { moveBrake, type SeenAtSite } from './site-brake.js'

/** Looks at how the thread's sites do, and moves their brakes. */
export interface WatchedBrakes {
  close(): Promise<void>
}

// A brake comes on within this time. A look costs one small query where nothing has happened.
const everyMs = 10_000
const writeEveryMs = 60_000

type Deps = Pick<OutboundDeps, 'store' | 'clock' | 'log' | 'thread' | 'threads'>

/** `onChange`: campaign mail may leave faster, or slower, than before. */
export function watchBrakes(
  deps: Deps,
  {
    shaping,
    brakes,
    poolOf,
    onChange,
  }: {
    shaping: Shaping
    brakes: BrakesInForce
    poolOf: (source: string) => string
    onChange: () => void
  },
): WatchedBrakes {
  const { store, clock, log, thread } = deps
  const { read } = store
  const windows = new Map<string, SeenWindow & { site: string; source: string }>()
  const days = makeDayCounts(deps)
  let writtenAt = clock.now()
  let changed = false

  /** Takes in the attempts that have ended since the last look. */
  const takeIn = (
    now: number,
  ): { window: SeenWindow; site: string; source: string; policy: Policy }[] =>
    shaping.takeTallies().map(({ name: { key: site }, source, policy, tally }) => {
      const key = siteKey(site, source)
      const since = brakes.rowFor(site, source)?.since
      let window = windows.get(key)
      if (window === undefined || window.since !== since || isOld(window, now)) {
        window = Object.assign(openWindow(since, now), { site, source })
        windows.set(key, window)
      }
      addSeen(window, tally, now)
      // What is seen while a brake is on is not usual.
      if (since === undefined) days.add({ complained: 0, site, source, ...tally })
      return { window, site, source, policy }
    })

  /** A brake comes on: keeps the pace of each source of the pool, which the brake takes a part of. */
  const keepPaces = (site: string, pool: string, now: number) => {
    for (const [key, window] of windows) {
      if (window.site !== site || poolOf(window.source) !== pool) continue
      const pace = paceOf(window, now)
      // A source that had no pace gets an equal part (`in-force.ts`).
      if (pace > 0) brakes.paces.set(key, pace)
    }
  }

  /**
   * What was seen that calls for a brake. Each source is judged by itself, because one of many must not hide among
   * the others.
   */
  const judge = async (seen: ReturnType<typeof takeIn>, now: number): Promise<SeenAtSite[]> => {
    const moves: SeenAtSite[] = []
    const today = dayNumber(now)
    for (const { window, site, source, policy } of seen) {
      const found = suspected(window, policy, now)
      if (found === undefined) continue
      const usual = await usualOf(read, { site, source }, { from: today - usualDays, to: today })
      if (!isOverUsual(found, usual, policy)) continue
      const pool = brakes.rowFor(site, source)?.source ?? poolOf(source)
      if (window.since === undefined) keepPaces(site, pool, now)
      moves.push({ site, source: pool, since: window.since, over: found.over, policy })
    }
    return moves
  }

  const move = async (moves: readonly SeenAtSite[], now: number) => {
    if (moves.length === 0) return
    for (const { site, source, over } of moves) {
      if (over !== undefined) log.warn({ site, source, ...over }, 'Campaign mail is slowed down')
    }
    await store.write(async (tx) => {
      for (const one of moves) await moveBrake(tx, one, now)
    })
  }

  /** Complaints are counted by the first thread of each node, for all. */
  const complaints = async (now: number): Promise<SeenAtSite[]> => {
    const siteOf = (host: string, domain: string) =>
      shaping.siteOf([{ exchange: host, preference: 0 }], domain)
    const [noted] = await read.selectFrom('host_complaints').select('host').limit(1).execute()
    if (noted === undefined) return []
    const sites = await store.write((tx) => takeComplaints(tx, siteOf, now))
    const moves: SeenAtSite[] = []
    for (const name of sites) {
      const policy = shaping.policyOf(name)
      if (policy.brake === 'off') continue
      const over = await complainedOver(read, name.key, policy, now)
      const since = brakes.row(name.key, '')?.since
      if (over !== undefined) moves.push({ site: name.key, source: '', since, over, policy })
    }
    return moves
  }

  const look = async () => {
    const now = clock.now()
    if (await brakes.refresh()) changed = true
    await move([...(await judge(takeIn(now), now)), ...stepsDue(brakes.rows(), now)], now)
    if (Math.abs(now - writtenAt) >= writeEveryMs) {
      writtenAt = now
      if (thread === 0) await move(await complaints(now), now)
      for (const [key, window] of windows) if (isOld(window, now)) windows.delete(key)
      await days.write(now)
    }
    if (await brakes.refresh()) changed = true
    if (!changed) return
    changed = false
    shaping.slowDown()
    onChange()
  }

  const seldom = makeSeldom(clock)
  const looks = repeat(clock, async () => {
    await look().catch((error: unknown) =>
      seldom(() =>
        log.error({ cause: messageOf(error) }, 'Brakes of sites could not be looked at'),
      ),
    )
    return everyMs
  })
  return { close: async () => void (await looks.stop()) }
}

/** Steps whose time has come, of all brakes: the thread that looks first takes them. */
const stepsDue = (rows: readonly SiteBrakeRow[], now: number): SeenAtSite[] =>
  rows
    .filter(({ since, until }) => !lasts({ until, at: since }, now))
    .map(({ site, source, since, step_ms, wait_ms }) => ({
      site,
      source,
      since,
      over: undefined,
      policy: { brakeStepMinutes: step_ms / 60_000, brakeWaitMinutes: wait_ms / 60_000 },
    }))
