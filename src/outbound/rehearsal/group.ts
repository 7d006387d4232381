import TinyQueue from 'tinyqueue'
import { type Clock, utcTime } from '../../clock/index.js'
import { queueClass } from '../../store/index.js'
import { type Brake, brakeInWords, nextBrake } from '../brakes/index.js'
import {
  type Held,
  type Learned,
  makeSite,
  type Policy,
  type Site,
  type SiteBrake,
  type WaitReason,
} from '../shaping/index.js'
import type { Gate, RehearsedSite, RehearsedSource, SiteCourse } from './course.js'
import type { Rations } from './rations.js'

/** A mail of the run, which may stand for several. */
export interface Unit {
  of: 'ours' | 'ahead' | 'beside'
  /** Attempts before. */
  tries: number
}

/** One site's part of a run. */
export interface Group {
  readonly thread: number
  readonly each: number
  readonly attemptMs: number
  /** When the group is looked at next if nothing ends before. */
  wakesAt: number | undefined
  /** To be told when a brake goes on to its next step. */
  onBrakeStep: (at: number, step: () => void) => void
  begin(): void
  /** What would leave next; undefined: nothing but the mail under way. */
  next(now: number): Unit | { waitsUntil: number; gate: Gate; why: string } | undefined
  /** Why nothing may start from any source; undefined: something may, and `start` starts it. */
  heldBy(): Held | undefined
  /** Why mail is held, with limits in mails and not in units. */
  wordsOf(held: Held): WaitReason
  /** Starts it. Returns the function to call when the attempt is over. */
  start(unit: Unit): () => void
  /** An attempt is over: the mail is through, or comes again. */
  ended(unit: Unit, now: number): void
  /** From now on the group waits for this gate. */
  waits(gate: Gate, reason: WaitReason, now: number): void
  goesOn(now: number): void
  isDone(): boolean
  course(now: number): SiteCourse
}

interface GroupOptions {
  each: number
  clock: Clock
  rations: Rations | undefined
  leavesAt: (n: number) => number | undefined
  opensAt: (now: number) => number
  retries: readonly number[]
}

// A mail that was put off so often arrives on another day; the run does not wait for it.
const mostTries = 6

/** Opens a site as it is now, from each of its sources. */
export function openGroup(of: RehearsedSite, options: GroupOptions): Group {
  const { each, clock, leavesAt, opensAt, retries } = options
  const left = {
    ours: Math.ceil(of.mails / each),
    ahead: Math.round(of.ahead / each),
    beside: Math.round(of.beside / each),
  }
  const all = left.ours
  const again = new TinyQueue<{ at: number; unit: Unit }>([], (a, b) => a.at - b.at)
  const sites = [...new Set(of.sources)].map((source) => openSource(of.policy, source, options))
  const turns = of.sources.map((source) => sites.find(({ name }) => name === source.name))
  const heldMs = new Map<Gate, SiteCourse['held'][number]>()
  let stuck: (WaitReason & { gate: Gate; at: number }) | undefined
  let turn = 0
  let takes: Site | undefined
  let owed = 0
  let made = 0
  let ended = 0
  let doneAt = clock.now()
  let mostlyAt: number | null = null
  let isOthersTurn = false

  const group: Group = {
    thread: of.thread,
    each,
    attemptMs: of.attemptMs * each,
    wakesAt: undefined,
    onBrakeStep() {},
    begin() {
      for (const { brake } of sites) brake?.begin((at, step) => group.onBrakeStep(at, step))
    },
    next(now) {
      if (of.held !== undefined && of.held.until > now) {
        return { waitsUntil: of.held.until, gate: 'hold', why: of.held.why }
      }
      const retried = again.peek()
      if (retried !== undefined && retried.at <= now) return retried.unit
      if (left.ahead > 0) return { of: 'ahead', tries: 0 }
      const leaves = made < all ? leavesAt(Math.min(of.mails - 1, made * each)) : undefined
      const opens = leaves === undefined ? never : Math.max(leaves, opensAt(Math.max(now, leaves)))
      const isOurs = opens <= now
      if (left.beside > 0 && (isOthersTurn || !isOurs) && ended < all) {
        return { of: 'beside', tries: 0 }
      }
      if (isOurs) return { of: 'ours', tries: 0 }
      const waitsUntil = Math.min(opens, retried?.at ?? never)
      if (!Number.isFinite(waitsUntil)) return undefined
      return opens <= (retried?.at ?? never)
        ? { waitsUntil, gate: 'pace', why: 'its own rate or hours' }
        : { waitsUntil, gate: 'deferred', why: 'mails that were put off come again later' }
    },
    heldBy() {
      let first: Held | undefined
      for (let i = 0; i < turns.length; i++) {
        const site = turns[(turn + i) % turns.length]?.site
        const held = site?.mayStart(queueClass.campaign)
        if (site !== undefined && held === undefined) {
          takes = site
          turn = (turn + i + 1) % turns.length
          return undefined
        }
        if (held !== undefined && (first === undefined || until(held) < until(first))) first = held
      }
      return first
    },
    wordsOf: (held) => reasonNow(of, held, clock.now()),
    start(unit) {
      const site = takes
      if (site === undefined) throw new Error('Nothing may start')
      if (unit.tries > 0) again.pop()
      else if (unit.of === 'ours') made++
      else left[unit.of]--
      isOthersTurn = unit.of === 'ours'
      const ration = site.started(queueClass.campaign)
      // A tenth ten times is a little less than one in floating point.
      owed += of.deferred + almost
      return () =>
        site.ended(queueClass.campaign, { kind: owed >= 1 ? 'deferred' : 'delivered' }, ration)
    },
    ended(unit, now) {
      const isPutOff = owed >= 1
      if (isPutOff) owed--
      if (isPutOff && unit.tries + 1 < mostTries) {
        const delay = retries[Math.min(unit.tries, retries.length - 1)] ?? 0
        again.push({ at: now + delay, unit: { of: unit.of, tries: unit.tries + 1 } })
        return
      }
      if (unit.of !== 'ours') return
      ended++
      doneAt = now
      if (mostlyAt === null && ended >= 0.9 * all) mostlyAt = now
    },
    waits(gate, { why, plain }, now) {
      stuck = { gate, why, plain, at: now }
    },
    goesOn(now) {
      if (stuck === undefined) return
      const { gate, at, ...reason } = stuck
      heldMs.set(gate, { ...reason, gate, ms: (heldMs.get(gate)?.ms ?? 0) + now - at })
      stuck = undefined
    },
    isDone: () => ended >= all,
    course(now) {
      group.goesOn(now)
      const held = [...heldMs.values()]
      return {
        key: of.key,
        mails: of.mails,
        doneAt: ended >= all ? doneAt : null,
        mostlyAt,
        held: held.filter(({ ms }) => ms > 0).sort((a, b) => b.ms - a.ms),
      }
    },
  }
  return group
}

const never = Number.POSITIVE_INFINITY
const almost = 1e-9
const until = (held: Held) => held.until ?? never

/**
 * A source at the site, with what was learned there and the brake that is on. All is reckoned for mails that stand
 * for several.
 */
function openSource(
  policy: Policy,
  { name, learned, brake }: RehearsedSource,
  { each, clock, rations }: GroupOptions,
) {
  const slowed = (one: Brake | undefined): SiteBrake | undefined =>
    one && {
      percent: one.percent,
      perMinute: (one.per_minute * one.percent) / 100 / each,
      until: one.until,
      why: brakeInWords(one),
    }
  const site = makeSite(
    { ...policy, messagesPerMinute: policy.messagesPerMinute / each },
    {
      clock,
      random: () => 0,
      warmUp: rations?.of(name, each),
      learned: learned && forEach(learned, each),
      brake: slowed(brake),
    },
  )
  let on = brake
  const begin = (at: (time: number, step: () => void) => void) => {
    if (on === undefined) return
    at(on.until, () => {
      on = nextBrake(on, undefined, policy, clock.now())
      site.slowDown(slowed(on))
      begin(at)
    })
  }
  return { name, site, brake: brake === undefined ? undefined : { begin } }
}

/** A rate that a receiver's words have lowered counts mails, and is converted into units. */
const forEach = (learned: Learned, each: number): Learned => ({
  ...learned,
  active: learned.active.map((one) => ({
    ...one,
    messagesPerMinute: one.messagesPerMinute === null ? null : one.messagesPerMinute / each,
  })),
})

/** Why it is held: limits that a receiver has lowered are named before those of the policy. */
function reasonNow({ sources, says }: RehearsedSite, held: Held, now: number): WaitReason {
  const { gate } = held
  if (gate !== 'rate' && gate !== 'connections') return held
  const why = loweredAt(sources, gate, now)
  return why === undefined ? says[gate] : { why }
}

/** The lowest rate or number of connections that a receiver's words have left, in words. */
function loweredAt(
  sources: readonly RehearsedSource[],
  gate: 'rate' | 'connections',
  now: number,
): string | undefined {
  const limit = gate === 'rate' ? 'messagesPerMinute' : 'connections'
  const [one] = sources
    .flatMap(({ learned }) => learned?.active ?? [])
    .filter(({ until: ends, [limit]: lowered }) => ends > now && lowered !== null)
    .sort((a, b) => b.until - a.until)
  if (one === undefined) return undefined
  const to = [
    one.messagesPerMinute === null ? [] : [`${one.messagesPerMinute} messages a minute`],
    one.connections === null ? [] : [`${one.connections} connections`],
  ].flat()
  return `${to.join(', ')} until ${utcTime(one.until)}, as the receiver answered: ${one.reply}`
}
