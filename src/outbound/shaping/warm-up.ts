import { onceATurn } from '../../bounded/index.js'
import { type Clock, dayMs, dayNumber } from '../../clock/index.js'
import type { Config } from '../../config/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'
import type { WaitReason } from './wait-reason.js'

/** A source address's ration of the day, as one thread sees it. */
export interface WarmUp {
  /** 0 when the mail may go; the ms until the next day; or `asking` until `onRation` is called. */
  wait(klass: QueueClass, now: number): number | 'asking'
  /** Why mail waits for the next day, for people. */
  reason(): WaitReason
  take(klass: QueueClass): TakenRation
  /** The mail did not leave: the connection failed. A ration that was taken on another day is over. */
  giveBack(taken: TakenRation): void
}

/** What a mail took of a day's ration. */
export interface TakenRation {
  left: number
  /** True when mail was told to wait since something was last left. */
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
  /** False after the ramp: any number may leave today. */
  limited: boolean
  /** The reason that is shown for mail that waits because nothing is left. */
  reason?: WaitReason
}

/** How rations are fetched, and who is told. */
export interface WarmUpOptions {
  clock: Clock
  threads: number
  /** `claimRation` in a write. */
  claim(request: RationRequest): Promise<Ration>
  /** A ration has come, was refused or is left over: mail that waits for it should be looked at again. */
  onRation(): void
}

// All threads together take a twentieth of the day's limit at a time. A crash loses what was taken and not used: a
// larger share would lose more, and a smaller one costs more writes.
const share = 0.05
// The rest after a ration could not be fetched.
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

/** Fetches rations when they are needed, and hands them out. */
export function makeWarmUp({ clock, threads, claim, onRation }: WarmUpOptions): WarmUp {
  let day = dayNumber(clock.now())
  let transactional = makePurse()
  let bulk = makePurse()
  let told: WaitReason = { why: "today's ration of the address is used" }
  // Not at once: the ration may be given back within the same look at waiting mail that this would start again.
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
    // Transactional mail may need more urgently what bulk mail was granted and has not used.
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
  /** True when nothing more is granted today. */
  spent: boolean
  asking: boolean
}

/** An empty purse; the first mail that needs it fills it. */
const makePurse = (): Purse => ({ left: 0, spent: false, asking: false, isAwaited: false })
