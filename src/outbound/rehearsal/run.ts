import TinyQueue from 'tinyqueue'
import { nextTurn } from '../../bounded/index.js'
import { queueClass } from '../../store/index.js'
import type { Brake } from '../brakes/index.js'
import {
  keptFrom,
  type Learned,
  type Policy,
  type SiteGate,
  type SourceState,
} from '../shaping/index.js'
import { type Group, openGroup, type Unit } from './group.js'
import { makeRations } from './rations.js'

/** One of our addresses, as it is at a site now. */
export interface RehearsedSource {
  name: string
  learned: Learned | undefined
  brake: Brake | undefined
}

/** Mail of the campaign to one site, and what is there before it; one thread's. */
export interface RehearsedSite {
  key: string
  thread: number
  mails: number
  /** What waits there already, of the same account or of a higher class, and campaigns of others. */
  ahead: number
  beside: number
  policy: Policy
  /** What its limits are called before people: the rate and the connections of all threads. */
  says: { rate: string; connections: string }
  /** Each as often as its weight says. */
  sources: readonly RehearsedSource[]
  /** The operator holds its mail until then, in these words. */
  held?: { until: number; why: string } | undefined
  /** How long an attempt usually takes there, and which part of them is put off. */
  attemptMs: number
  deferred: number
}

/** All that the run goes by. */
export interface RehearsalPlan {
  startsAt: number
  /** When the nth mail of the campaign may leave, of all to whomever (ms); undefined: never. */
  leavesAt: (n: number) => number | undefined
  /** When it may go on: at once, or when the next of its hours begin. */
  opensAt: (now: number) => number
  sites: readonly RehearsedSite[]
  maxConnections: number
  threads: number
  /** Mails that one thread sends in a second at most. */
  perSecond: number
  /** By source; undefined: nothing is warmed up. */
  warmUp: ReadonlyMap<string, SourceState | undefined> | undefined
  /** Delays after the first attempt, the second … (ms). */
  retries: readonly number[]
}

/** What mail may wait for: a gate of its site, its own pace, its next attempt, or this machine. */
export type Gate = SiteGate | 'pace' | 'deferred' | 'appliance'

/** How the campaign's mail to a site fares. */
export interface SiteCourse {
  key: string
  mails: number
  /** When the last of it has ended; null: not within the time that is looked ahead. */
  doneAt: number | null
  /** When nine of ten have. */
  mostlyAt: number | null
  /** What it waited for, the longest first. */
  held: { gate: Gate; ms: number; why: string }[]
}

export interface Rehearsed {
  doneAt: number | null
  sites: SiteCourse[]
}

// Further nobody plans, and a campaign's mail is given up before.
const aheadMs = 30 * 86_400_000
/** So many mails of all are let go one by one; where there are more, one stands for several. */
const mostUnits = 40_000
const leastUnits = 300
// Some milliseconds' worth.
const perSlice = 500

interface Due {
  at: number
  wake: () => void
}

/**
 * Lets the campaign leave, in the time of a clock of its own. A mail that stands for `each` takes that many times as long and as
 * much of each rate and ration, so that nothing else changes. In slices, between which others have their turn.
 */
export async function runRehearsal(plan: RehearsalPlan): Promise<Rehearsed> {
  const due = new TinyQueue<Due>([], (a, b) => a.at - b.at)
  let now = plan.startsAt
  const clock = { now: () => now, after: () => () => {} }
  const mostBulk = plan.maxConnections - keptFrom(queueClass.campaign, plan.maxConnections)
  const rations = plan.warmUp === undefined ? undefined : makeRations(plan.warmUp)
  const total = plan.sites.reduce((sum, { mails }) => sum + mails, 0)
  const most = Math.max(leastUnits, Math.floor(mostUnits / Math.max(1, plan.sites.length)))
  const freeAt = Array.from({ length: plan.threads }, () => plan.startsAt)
  const lines = freeAt.map(() => new Set<Group>())
  const ownPace = `this machine sends ${plan.perSecond} mails a second and thread`
  const waiting = new Set<Group>()
  let inFlight = 0

  const groups = plan.sites.map((site) => {
    const each = Math.max(1, Math.ceil(Math.max(site.mails, site.ahead + site.beside) / most))
    // Mails of all sites are made in turn: the nth of a site is about the same part of all.
    const leavesAt = (n: number) => plan.leavesAt(Math.floor(((n + 1) / site.mails) * total) - 1)
    const { opensAt, retries } = plan
    return openGroup(site, { each, clock, rations, leavesAt, opensAt, retries })
  })
  const at = (time: number, wake: () => void) => due.push({ at: time, wake })

  const end = (group: Group, unit: Unit, finish: ReturnType<Group['start']>) => {
    inFlight--
    finish()
    group.ended(unit, now)
    pump(group)
    for (const other of [...waiting]) {
      if (inFlight >= mostBulk) break
      waiting.delete(other)
      pump(other)
    }
  }
  const pump = (group: Group) => {
    group.goesOn(now)
    for (;;) {
      const next = group.next(now)
      if (next === undefined) return
      if ('waitsUntil' in next) {
        group.waits(next.gate, next.why, now)
        return wakeAt(group, next.waitsUntil)
      }
      const free = freeAt[group.thread] ?? now
      if (free > now) {
        group.waits('appliance', ownPace, now)
        return standAt(group)
      }
      if (inFlight >= mostBulk) {
        group.waits('connections', `${plan.maxConnections} connections in all`, now)
        waiting.add(group)
        return
      }
      const held = group.heldBy()
      if (held !== undefined) {
        group.waits(held.gate, group.wordsOf(held), now)
        if (held.until !== null) wakeAt(group, held.until)
        return
      }
      const finish = group.start(next)
      inFlight++
      freeAt[group.thread] = Math.max(now, free) + (group.each * 1_000) / plan.perSecond
      at(now + group.attemptMs, () => end(group, next, finish))
    }
  }
  /** Waits for the thread, in line with others: one of them is woken when it is free. */
  const standAt = (group: Group) => {
    const line = lines[group.thread]
    if (line === undefined || line.has(group)) return
    line.add(group)
    if (line.size === 1) wakeLine(group.thread)
  }
  const wakeLine = (thread: number) => {
    at(freeAt[thread] ?? now, () => {
      const [first] = lines[thread] ?? []
      if (first === undefined) return
      lines[thread]?.delete(first)
      pump(first)
      if ((lines[thread]?.size ?? 0) > 0) wakeLine(thread)
    })
  }
  const wakeAt = (group: Group, time: number) => {
    const when = Math.max(time, now + 1)
    // One wake at a time: a later one is set when this one has found that it is too soon.
    if (group.wakesAt !== undefined && group.wakesAt <= when && group.wakesAt > now) return
    group.wakesAt = when
    at(when, () => {
      if (group.wakesAt === when) group.wakesAt = undefined
      pump(group)
    })
  }

  for (const group of groups) {
    group.onBrakeStep = (time, step) => at(time, step)
    group.begin()
    pump(group)
  }
  let looked = 0
  for (let first = due.pop(); first !== undefined; first = due.pop()) {
    if (first.at > plan.startsAt + aheadMs) break
    now = Math.max(now, first.at)
    first.wake()
    if (++looked % perSlice === 0) await nextTurn()
    if (looked % perSlice === 0 && groups.every((group) => group.isDone())) break
  }
  const sites = groups.map((group) => group.course(now))
  const ends = sites.map(({ doneAt }) => doneAt)
  const doneAt = ends.reduce<number | null>(
    (last, one) => (last === null || one === null ? null : Math.max(last, one)),
    plan.startsAt,
  )
  return { doneAt, sites }
}
