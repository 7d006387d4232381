import { counted } from '../../amounts/index.js'
import type { Clock } from '../../clock/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'
import { type Concurrency, fail, makeConcurrency, succeed } from './concurrency.js'
import { park, type SiteOutcome, type Suspension } from './parking.js'
import type { Policy } from './policy.js'
import { type ActiveAction, firstWords, Reactions, type SiteAction } from './reactions.js'
import { addTally, noTally, type SiteBrake, type SiteTally } from './tally.js'
import { afterOne, beforeOne, rateOf, reserveOf, waitFor } from './throttle.js'
import type { WaitReason } from './wait-reason.js'
import { noWarmUp, type TakenRation, type WarmUp } from './warm-up.js'

/** What may keep a mail from starting at a site. */
export type SiteGate = 'suspended' | 'connections' | 'warm-up' | 'rate' | 'hold' | 'away' | 'brake'

/**
 * Why a mail may not start. `until`: when to ask again; null: when an attempt at the site has ended,
 * or `onRation` of the warm-up was called.
 */
export interface Held extends WaitReason {
  readonly gate: SiteGate
  readonly until: number | null
}

/** What a site needs beside its policy. */
export interface SiteOptions {
  clock: Clock
  random: () => number
  /** The ration of the source address; none by default. */
  warmUp?: WarmUp | undefined
  /** `accountId`: whose mail the receiver answered; empty where that is not known. */
  onAction?: ((action: SiteAction, accountId: string) => void) | undefined
  /** What was known of the site before a restart. */
  learned?: Learned | undefined
  /** The brake on its campaign mail at the start. */
  brake?: SiteBrake | undefined
  /** Called when the first attempt has ended since the count was last taken. */
  onTally?: (() => void) | undefined
}

/** What outlives a restart, as plain data. */
export interface Learned {
  readonly connections: number
  readonly suspension: Suspension | null
  readonly active: readonly ActiveAction[]
}

// After so long without mail, the number of connections that a site has earned tells little, and memory must not keep
// 100,000 sites for ever.
const staleMs = 600_000
// A site begins again with so many connections after a suspension.
const afterSuspension = 2

/** A site as it is at the start, or as it was before a restart. */
export const makeSite = (policy: Policy, options: SiteOptions): Site => new Site(policy, options)

/**
 * One site from one source address: what may start now, and what the outcomes teach.
 *
 *   open ──a cohort of connections failed, or 'suspend'──▶ suspended ──its time──▶ probing
 *     ▲                                                        ▲                     │ │
 *     └──── a message got through (or, after failed connections, any answer) ────────┼─┘
 *                                                              └─ connection failed ─┘
 *
 * After failed connections, a message that was under way and got through opens the site at once.
 *
 * This is a class, because 100,000 may live at once: methods are shared, and parts that most sites never need are
 * made when needed. Every call is O(1), except for the automations of the policy on a 4xx or 5xx.
 */
export class Site {
  #policy: Policy
  readonly #options: SiteOptions
  #concurrency: Concurrency
  #answers = false
  #inFlight = 0
  #bulkInFlight = 0
  #paidUntil = 0
  #usedAt: number
  #seenAt: number
  #suspension: Suspension | undefined
  #reactions: Reactions | undefined
  #brake: SiteBrake | undefined
  #brakePaidUntil = 0
  #tally: SiteTally | undefined
  #busyMs = 0
  #busySince = 0

  constructor(policy: Policy, options: SiteOptions) {
    const { clock, learned } = options
    this.#policy = policy
    this.#options = options
    this.#usedAt = clock.now()
    this.#seenAt = this.#usedAt
    const connections = learned?.connections ?? policy.initialConnections
    this.#concurrency = makeConcurrency(Math.min(connections, policy.connections))
    this.#suspension = learned?.suspension ?? undefined
    if (learned && learned.active.length > 0) this.#reactions = new Reactions(learned.active)
    this.#brake = options.brake
  }

  get policy(): Policy {
    return this.#policy
  }

  /** Whether the last attempt that ended had an answer; false where no attempt has ended yet. */
  get answers(): boolean {
    return this.#answers
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** How many connections there may be now, by the policy, by what was earned, and by the receiver's words. */
  get connections(): number {
    return this.#connections(this.#options.clock.now())
  }

  /** Undefined when a mail of this class may start; the caller then calls `started` at once. */
  mayStart(klass: QueueClass): Held | undefined {
    const now = this.#now()
    const { until = 0, why = '' } = this.#suspension ?? {}
    if (now < until) return { gate: 'suspended', until, why }
    if (until > 0 && this.#inFlight > 0) {
      return { gate: 'suspended', until: null, why: `${why}; one message at a time to try it` }
    }
    if (this.#brake !== undefined && klass === queueClass.campaign) {
      const braked = brakedUntil(this.#brake, this.#brakePaidUntil, now)
      if (braked > now) return { gate: 'brake', until: braked, why: this.#brake.why }
    }
    const full = this.#full(klass, now)
    if (full !== undefined) return { gate: 'connections', until: null, why: full }
    const { warmUp = noWarmUp } = this.#options
    const nextDay = warmUp.wait(klass, now)
    if (nextDay === 'asking') return { gate: 'warm-up', until: null, why: 'Asking for a ration' }
    if (nextDay > 0) {
      const { why, plain } = warmUp.reason()
      return { gate: 'warm-up', until: now + nextDay, why, plain }
    }
    const perMinute = this.#messagesPerMinute(now)
    const wait = waitFor(rateOf(perMinute), this.#paidUntil, klass, now)
    if (wait === 0) return undefined
    const because = this.#reactions?.because('messagesPerMinute', perMinute, now) ?? ''
    const rate = `${counted(Math.round(perMinute * 100) / 100, 'message')} a minute`
    return { gate: 'rate', until: now + wait, why: rate + because }
  }

  /** Returns what the mail took of the day's ration, for `withdraw` or `ended`. */
  started(klass: QueueClass): TakenRation | undefined {
    const now = this.#now()
    this.#usedAt = now
    this.#accrue(now)
    this.#inFlight++
    if (klass !== queueClass.transactional) this.#bulkInFlight++
    if (this.#brake !== undefined && klass === queueClass.campaign) {
      this.#brakePaidUntil = afterOne(pacedBy(this.#brake), this.#brakePaidUntil, now)
    }
    this.#paidUntil = afterOne(rateOf(this.#messagesPerMinute(now)), this.#paidUntil, now)
    return this.#options.warmUp?.take(klass)
  }

  /** Takes `started` back: there was no mail, or the attempt did not get as far as a connection. */
  withdraw(klass: QueueClass, taken?: TakenRation): void {
    const now = this.#now()
    this.#accrue(now)
    this.#inFlight--
    if (klass !== queueClass.transactional) this.#bulkInFlight--
    if (this.#brake !== undefined && klass === queueClass.campaign) {
      this.#brakePaidUntil = beforeOne(pacedBy(this.#brake), this.#brakePaidUntil)
    }
    this.#paidUntil = beforeOne(rateOf(this.#messagesPerMinute(now)), this.#paidUntil)
    if (taken) this.#options.warmUp?.giveBack(taken)
  }

  /** An attempt is over: its place is free again, and its outcome teaches. `taken`: what `started` returned. */
  ended(klass: QueueClass, outcome: SiteOutcome, taken?: TakenRation): void {
    const now = this.#now()
    // Whether the attempt was the last one for which there was room; asked before its place is given back.
    const inTheWay = this.#full(klass, now) !== undefined
    this.#usedAt = now
    this.#answers = outcome.kind !== 'connect-failed' || outcome.reply !== undefined
    if (outcome.kind === 'connect-failed' && taken) this.#options.warmUp?.giveBack(taken)
    const heard = outcome.kind === 'delivered' ? undefined : this.#listen(outcome, now)
    this.#accrue(now)
    this.#count(klass, outcome)
    this.#inFlight--
    if (klass !== queueClass.transactional) this.#bulkInFlight--
    if (heard !== undefined) return
    if (now < (this.#suspension?.until ?? 0)) {
      // The attempt began before the site was suspended. If it failed, that is the same failure that led to the
      // suspension, and must not count twice. A message that got through shows that not all connections fail.
      if (outcome.kind === 'delivered' && this.#suspension?.by === 'connection') this.#resume()
      return
    }
    if (outcome.kind === 'connect-failed') {
      if (fail(this.#concurrency) || this.#suspension !== undefined) {
        const { random } = this.#options
        this.#suspension = park(outcome, this.#suspension, { now, random })
      }
      return
    }
    const answered = outcome.reply !== undefined
    const passed = outcome.kind !== 'deferred'
    if (this.#suspension !== undefined) {
      if (passed || (answered && this.#suspension.by === 'connection')) this.#resume()
    } else if (passed) succeed(this.#concurrency, this.#policy.connections, inTheWay)
    else if (answered) this.#concurrency.failedCohorts = 0
  }

  /** What one of its servers said about a mail that then went to another server: an attempt ends only once. */
  heard(said: Pick<SiteOutcome, 'reply' | 'accountId'>): void {
    this.#listen(said, this.#now())
  }

  /** Campaign mail goes slower from now on, or as usual again. */
  slowDown(brake: SiteBrake | undefined): void {
    this.#brake = brake
  }

  /** How attempts have ended since the last call; undefined where none has. */
  takeTally(): SiteTally | undefined {
    const tally = this.#tally
    if (tally === undefined) return undefined
    this.#accrue(this.#now())
    this.#tally = undefined
    addTally(tally, { ...noTally(), busyMs: this.#busyMs })
    this.#busyMs = 0
    return tally
  }

  /** Takes a new policy; attempts under way and what was learned stay. */
  adopt(policy: Policy): void {
    const { connections } = this.#concurrency
    const untouched = connections === this.#policy.initialConnections
    const wanted = untouched ? policy.initialConnections : connections
    this.#concurrency.connections = Math.min(wanted, policy.connections)
    this.#policy = policy
  }

  /** A suspended site is tried with one message at once: the operator may know that it is well again. */
  tryNow(): void {
    const now = this.#now()
    const suspension = this.#suspension
    if (suspension) this.#suspension = { ...suspension, until: Math.min(suspension.until, now) }
  }

  /** True when the site is idle and a new site would behave no differently. */
  isForgettable(): boolean {
    const now = this.#now()
    if (this.#inFlight > 0 || this.#suspension !== undefined || this.#paidUntil > now) return false
    if (this.#reactions?.isOver(now) === false || this.#brakePaidUntil > now) return false
    const { connections, credit, failedCohorts } = this.#concurrency
    const usual = connections === this.#policy.initialConnections
    return (usual && credit === 0 && failedCohorts === 0) || now - this.#usedAt >= staleMs
  }

  /** The state that is shown, and that a restart gives back. */
  learned(): Learned {
    const active = this.#reactions?.active(this.#now()) ?? []
    const { connections } = this.#concurrency
    return { connections, suspension: this.#suspension ?? null, active }
  }

  /**
   * The time. When the clock was set back, all times that were reckoned from it are set back by as much; otherwise
   * mail would wait for as long as the clock was wrong.
   */
  #now(): number {
    const now = this.#options.clock.now()
    const setBackBy = this.#seenAt - now
    this.#seenAt = now
    if (setBackBy <= 0) return now
    this.#paidUntil -= setBackBy
    this.#brakePaidUntil -= setBackBy
    this.#usedAt -= setBackBy
    this.#busySince = now
    this.#reactions?.setBack(setBackBy)
    const suspension = this.#suspension
    if (suspension) {
      const { until, at = until } = suspension
      this.#suspension = { ...suspension, until: until - setBackBy, at: at - setBackBy }
    }
    return now
  }

  /** Adds up how long slots are taken, before their number changes. */
  #accrue(now: number): void {
    this.#busyMs += this.#inFlight * (now - this.#busySince)
    this.#busySince = now
  }

  /** An attempt without an answer does not tell what the site thinks of us. */
  #count(klass: QueueClass, { kind, reply, against }: SiteOutcome): void {
    if (kind !== 'delivered' && reply === undefined) return
    if (this.#tally === undefined) {
      this.#tally = noTally()
      this.#options.onTally?.()
    }
    this.#tally.tried++
    if (klass === queueClass.campaign) this.#tally.campaigns++
    if (kind === 'delivered') this.#tally.delivered++
    else if (against === 'block') this.#tally.blocked++
    else if (against === 'deferral') this.#tally.deferred++
  }

  #connections(now: number): number {
    const most = Math.min(this.#concurrency.connections, this.#policy.connections)
    return this.#reactions?.lowest('connections', most, now) ?? most
  }

  #messagesPerMinute(now: number): number {
    const most = this.#policy.messagesPerMinute
    return this.#reactions?.lowest('messagesPerMinute', most, now) ?? most
  }

  /** Why no more mail of this class fits; undefined when one fits. */
  #full(klass: QueueClass, now: number): string | undefined {
    const most = this.#connections(now)
    const kept = reserveOf(most)
    const bulk = klass !== queueClass.transactional
    const isFull = this.#inFlight >= most
    if (!isFull && (!bulk || this.#bulkInFlight < most - kept)) return undefined
    const because = this.#reactions?.because('connections', most, now) ?? ''
    const reserve = isFull ? '' : `, ${kept} of them only for transactional mail`
    return `${most} at once${reserve}${because}`
  }

  /** Acts on what the server said; returns only what that shows about the attempt. */
  #listen(
    { reply, accountId = '' }: Pick<SiteOutcome, 'reply' | 'accountId'>,
    now: number,
  ): 'suspended' | 'too many' | undefined {
    if (reply === undefined) return undefined
    this.#reactions ??= new Reactions()
    const most = this.#connections(now)
    // Attempts that began before the limit was lowered bring the same reply: they do not lower it further.
    const isNew = this.#inFlight <= most
    const halved = isNew ? Math.max(1, Math.floor(most / 2)) : most
    const asked = this.#reactions.listen(this.#policy, reply, { now, halved })
    const parked = now < (this.#suspension?.until ?? 0)
    let suspended = false
    for (const action of asked) {
      if (action.action === 'suspend') {
        suspended = true
        const until = Math.max(action.until, this.#suspension?.until ?? 0)
        const why = `The receiver answered: ${firstWords(reply)}`
        this.#suspension = { at: now, until, why, by: 'reply' }
        // All mail that was under way at the suspension gets the same answer. The operator is told once.
        if (parked) continue
      }
      if (!action.again) this.#options.onAction?.(action, accountId)
    }
    if (suspended) return 'suspended'
    if (!asked.some(({ action }) => action === 'fewer connections')) return undefined
    // There cannot be fewer than one connection: the site is left alone for a while.
    if (most === 1 && isNew && !parked) {
      const { random } = this.#options
      const why = `The receiver answered: ${firstWords(reply)}`
      const busy = { kind: 'connect-failed', cause: 'busy', why } as const
      this.#suspension = park(busy, this.#suspension, { now, random })
    }
    return 'too many'
  }

  #resume(): void {
    this.#suspension = undefined
    this.#concurrency = makeConcurrency(Math.min(afterSuspension, this.#policy.connections))
  }
}

/** The pace of campaign mail under a brake. */
const pacedBy = ({ perMinute }: SiteBrake) => rateOf(Math.max(perMinute, slowest))

// Mails a minute: a tenth of few mails an hour must still show whether the site is well again.
const slowest = 0.1

// The thread that looks at brakes ends the wait a moment after its time.
const lookAgainMs = 1_000

/** When campaign mail may start; now or before: at once. */
function brakedUntil(brake: SiteBrake, paidUntil: number, now: number): number {
  if (brake.percent === 0) return Math.max(brake.until, now + lookAgainMs)
  // The whole pace is for campaigns: nothing of it is kept for other mail.
  return now + waitFor(pacedBy(brake), paidUntil, queueClass.transactional, now)
}
