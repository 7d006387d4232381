import TinyQueue from 'tinyqueue'
import { counted } from '../../amounts/index.js'
import { nextTurn } from '../../bounded/index.js'
import { queueClass } from '../../store/index.js'
import { keptFrom } from '../shaping/index.js'
import type { RehearsalPlan, Rehearsed, SiteCourse } from './course.js'
import { type Group, openGroup, type Unit } from './group.js'
import { makeRations } from './rations.js'

// Nobody plans further ahead, and a campaign's mail is given up before.
const aheadMs = 30 * 86_400_000
/** Up to so many mails in all are run one by one; where there are more, one stands for several. */
const mostUnits = 40_000
const leastUnits = 300
// Some milliseconds of work.
const perSlice = 500
// Some seconds of work. No plan comes near it, and each run has an end.
const mostSteps = 5_000_000

interface Due {
  at: number
  wake: () => void
}

/**
 * Lets the campaign leave in simulated time. A mail that stands for `each` mails takes that many times as long, and
 * that much more of each rate and ration, so that nothing else changes. It runs in slices, between which others have
 * their turn.
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
  const isToWake = freeAt.map(() => false)
  const ownPace = {
    why: `this server sends ${counted(plan.perSecond * plan.threads, 'mail')} a second at most`,
  }
  const waiting = new Set<Group>()
  let inFlight = 0

  const groups = plan.sites.map((site) => {
    const each = Math.max(1, Math.ceil(Math.max(site.mails, site.ahead + site.beside) / most))
    // Mails of all sites are made in turn, so a site's nth mail comes at the same fraction of the whole campaign.
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
        group.waits(next.gate, next, now)
        return wakeAt(group, next.waitsUntil)
      }
      const free = freeAt[group.thread] ?? now
      if (free > now) {
        group.waits('appliance', ownPace, now)
        return standAt(group)
      }
      if (inFlight >= mostBulk) {
        group.waits('connections', { why: `${plan.maxConnections} connections in all` }, now)
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
  /** Waits for the thread in line with others: one group is woken when the thread is free. */
  const standAt = (group: Group) => {
    const line = lines[group.thread]
    if (line === undefined || line.has(group)) return
    line.add(group)
    wakeLine(group.thread)
  }
  const wakeLine = (thread: number) => {
    const line = lines[thread]
    // One wake at a time, because each would set the next.
    if (line === undefined || line.size === 0 || isToWake[thread]) return
    isToWake[thread] = true
    at(freeAt[thread] ?? now, () => {
      isToWake[thread] = false
      const [first] = line
      if (first === undefined) return
      line.delete(first)
      pump(first)
      wakeLine(thread)
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
    if (first.at > plan.startsAt + aheadMs || looked > mostSteps) break
    now = Math.max(now, first.at)
    first.wake()
    if (++looked % perSlice === 0) await nextTurn()
    if (looked % perSlice === 0 && groups.every((group) => group.isDone())) break
  }
  const sites = groups.map((group) => group.course(now))
  return { doneAt: endOf(sites, plan.startsAt), sites }
}

const endOf = (sites: readonly SiteCourse[], startsAt: number) =>
  sites.reduce<number | null>(
    (last, { doneAt }) => (last === null || doneAt === null ? null : Math.max(last, doneAt)),
    startsAt,
  )
