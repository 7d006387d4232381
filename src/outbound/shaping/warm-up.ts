import { type Clock, dayMs } from '../../clock/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'
import { dayOf } from './ramp.js'

/** A source address's ration of the day, as one thread sees it. */
export interface WarmUp {
  /** 0; the ms until the next day; `asking` until `onRation` is called. */
  wait(klass: QueueClass, now: number): number | 'asking'
  take(klass: QueueClass): TakenRation
  /** The mail did not leave: the connection failed. What was taken on another day is over. */
  giveBack(taken: TakenRation): void
}

/** What a mail took of a day's ration. */
export interface TakenRation {
  left: number
}

export interface RationRequest {
  klass: QueueClass
  /** How much of the day's limit is asked for at once, in (0, 1]. */
  share: number
  now: number
}

export interface Ration {
  /** 0: nothing is left today. */
  messages: number
  /** False past the ramp: as many as one likes, today. */
  limited: boolean
}

export interface WarmUpOptions {
  clock: Clock
  threads: number
  /** `claimRation` in a write. */
  claim(request: RationRequest): Promise<Ration>
  /** There may be something to send now. */
  onRation(): void
}

// A twentieth of the day at a time, over all threads: what a crash loses, against a write for each.
const share = 0.05
const retryMs = 1_000

/** For sources that need none: the sandbox, `outbound.warm_up = "off"`. */
export const noWarmUp: WarmUp = { wait: () => 0, take: () => ({ left: 0 }), giveBack() {} }

/** Fetches rations as they are needed and hands them out. */
export function makeWarmUp({ clock, threads, claim, onRation }: WarmUpOptions): WarmUp {
  let day = dayOf(clock.now())
  let transactional = makePurse()
  let bulk = makePurse()

  const newDay = (now: number) => {
    if (dayOf(now) === day) return
    day = dayOf(now)
    // What is being asked for still comes into the old ones, and is not used.
    transactional = makePurse()
    bulk = makePurse()
  }
  const ask = (purse: Purse, klass: QueueClass) => {
    if (purse.asking) return
    purse.asking = true
    const answered = () => {
      purse.asking = false
      onRation()
    }
    claim({ klass, share: share / threads, now: clock.now() }).then(
      ({ messages, limited }) => {
        purse.left += limited ? messages : Number.POSITIVE_INFINITY
        purse.spent = messages === 0
        answered()
      },
      // Whoever claims has said why.
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
      if (purse.spent) return (day + 1) * dayMs - now
      ask(purse, klass)
      return 'asking'
    },
    take(klass) {
      const purse = purseOf(klass)
      purse.left--
      return purse
    },
    giveBack(taken) {
      taken.left++
    },
  }
}

interface Purse extends TakenRation {
  /** Nothing more is to be had today. */
  spent: boolean
  asking: boolean
}

const makePurse = (): Purse => ({ left: 0, spent: false, asking: false })
