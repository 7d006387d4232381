import { onceATurn } from '../../bounded/index.js'
import { type Clock, dayMs, dayNumber } from '../../clock/index.js'
import type { Config } from '../../config/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'
import type { WaitReason } from './wait-reason.js'

/** A source address's ration of the day, as one thread sees it. */
export interface WarmUp {
  /** 0; the ms until the next day; `asking` until `onRation` is called. */
  wait(klass: QueueClass, now: number): number | 'asking'
  /** Why mail waits for the next day, for people. */
  reason(): WaitReason
  take(klass: QueueClass): TakenRation
  /** The mail did not leave: the connection failed. What was taken on another day is over. */
  giveBack(taken: TakenRation): void
}

/** What a mail took of a day's ration. */
export interface TakenRation {
  left: number
  /** Mail was told to wait since something was left the last time. */
  isAwaited?: boolean
}

/** What a thread asks for. */
export interface RationRequest {
  klass: QueueClass
  /** How much of the day's limit is asked for at once, in (0, 1]. */
  share: number
  now: number
}

/** What a thread was granted. */
export interface Ration {
  /** 0: nothing is left today. */
  messages: number
  /** False past the ramp: as many as one likes, today. */
  limited: boolean
  /** What is told of mail that waits as nothing is left. */
  reason?: WaitReason
}

/** How rations are fetched, and who is told. */
export interface WarmUpOptions {
  clock: Clock
  threads: number
  /** `claimRation` in a write. */
  claim(request: RationRequest): Promise<Ration>
  /** A ration has come, was refused or is left over: mail that waits for it is to be looked at again. */
  onRation(): void
}

// All threads together take a twentieth of the day's limit at a time. A crash loses what was taken and not used, so
// that more would be lost by a larger share; a smaller one costs more writes.
const share = 0.05
// After a ration that could not be fetched.
const retryMs = 1_000

/** Whether source addresses are warmed up: in the sandbox nobody outside sees them. */
export const isWarmedUp = ({ warmUp, route }: Pick<Config['outbound'], 'warmUp' | 'route'>) =>
  warmUp !== 'off' && route !== 'sandbox'

/** For source addresses that are not warmed up: in the sandbox, and with `outbound.warm_up = "off"`. */
export const noWarmUp: WarmUp = {
  wait: () => 0,
  reason: () => noReason,
  take: () => ({ left: 0 }),
  giveBack() {},
}

const noReason: WaitReason = { why: '' }

/** Fetches rations as they are needed and hands them out. */
export function makeWarmUp({ clock, threads, claim, onRation }: WarmUpOptions): WarmUp {
  let day = dayNumber(clock.now())
  let transactional = makePurse()
  let bulk = makePurse()
  let told: WaitReason = { why: "today's ration of the address is used" }
  // Not at once: what is given back may just have been taken in the look that would be begun again.
  const tellLeftOver = onceATurn(onRation)

  const newDay = (now: number) => {
    if (dayNumber(now) === day) return
    day = dayNumber(now)
    // An answer that is still on its way comes into the old purses, which nobody uses any more.
    transactional = makePurse()
    bulk = makePurse()
  }
  const ask = (purse: Purse, klass: QueueClass) => {
    if (purse.asking) return
    purse.asking = true
    const answered = () => {
      purse.asking = false
      purse.isAwaited = false
      onRation()
    }
    claim({ klass, share: share / threads, now: clock.now() }).then(
      ({ messages, limited, reason = told }) => {
        told = reason
        purse.left += limited ? messages : Number.POSITIVE_INFINITY
        purse.spent = messages === 0
        answered()
      },
      // `claim` has told the log why it failed.
      () => clock.after(retryMs, answered),
    )
  }
  const purseOf = (klass: QueueClass) => {
    if (klass !== queueClass.transactional) return bulk
    // What bulk was granted and has not used may be needed more urgently.
    return transactional.left <= 0 && transactional.spent && bulk.left > 0 ? bulk : transactional
  }

  return {
    wait(klass, now) {
      newDay(now)
      const purse = purseOf(klass)
      if (purse.left > 0) return 0
      purse.isAwaited = true
      if (klass === queueClass.transactional) bulk.isAwaited = true
      if (purse.spent) return (day + 1) * dayMs - now
      ask(purse, klass)
      return 'asking'
    },
    reason: () => told,
    take(klass) {
      const purse = purseOf(klass)
      purse.left--
      return purse
    },
    giveBack(taken) {
      taken.left++
      if (!taken.isAwaited) return
      taken.isAwaited = false
      tellLeftOver()
    },
  }
}

/** What a thread has left of the day, for transactional or for bulk mail. */
interface Purse extends TakenRation {
  /** Nothing more is to be had today. */
  spent: boolean
  asking: boolean
}

/** An empty one, which is filled by the first mail that needs it. */
const makePurse = (): Purse => ({ left: 0, spent: false, asking: false, isAwaited: false })
