import type { Claimed } from '../../deliveries/index.js'
import {
  type Admission,
  type ComposingRoom,
  type DeliverySlot,
  keyOf,
  type Stream,
} from '../admission/index.js'
import type { Attempted, Attempts } from '../attempt/index.js'
import type { OutboundDeps } from '../deps.js'
import { isInsideLane } from '../routing/index.js'
import type { Ahead } from './ahead.js'
import type { ReachabilityRecord } from './reachability.js'
import { makeRecorder, type Recorded } from './recorder.js'

/** Attempts under way, each from its claim until its result is written. */
export interface Runs {
  begin(stream: Stream, delivery: Claimed, slot: DeliverySlot): void
  /**
   * Settles the delivery without an attempt where it has left already and the database has forgotten that. False: it
   * has not left.
   */
  endAnew(stream: Stream, delivery: Claimed): boolean
  /** True when the delivery is under way, or when its result could not be written: it may have arrived. */
  has(id: number): boolean
  /** True when no attempt is under way. */
  isIdle(): boolean
  /** True while results cannot be written: to start more would only put more at risk. */
  cannotWrite(): boolean
  /** From now on attempts may end because we break them off. Resolves when none is under way. */
  stop(): Promise<void>
}

/** The parts of the thread that an attempt under way needs, and whom it tells. */
export interface RunsParts {
  admission: Admission
  ahead: Ahead
  attempts: Pick<Attempts, 'attempt'>
  composing: Pick<ComposingRoom, 'whenNear'>
  reachability: ReachabilityRecord
  /** An attempt has ended, or its result was written. */
  onEnded: () => void
}

/**
 * Attempts that are under way, from the slot to the settled outcome. A delivery that cannot be settled stays counted
 * as in flight, so that this thread does not try the same mail again and again.
 */
export function makeRuns(
  deps: OutboundDeps,
  { admission, ahead, attempts, composing, reachability, onEnded }: RunsParts,
): Runs {
  const { clock, log } = deps
  const recorder = makeRecorder(deps)
  /** By their ids. */
  const inFlight = new Set<number>()
  const unwritable = new Set<number>()
  let stopped = false
  let onIdle = () => {}

  const leave = (id: number) => {
    inFlight.delete(id)
    if (inFlight.size === 0) onIdle()
  }

  /** Gives the slot back, with what the attempt told about the site. */
  const freeSlot = ({ lane }: Stream, slot: DeliverySlot, { site, settlement }: Attempted) => {
    // An attempt that we broke off ourselves says nothing about the site.
    if (site === undefined || stopped) return admission.withdraw(slot)
    admission.ended(slot, site)
    // The appliance's own servers say nothing about the way out.
    if (isInsideLane(lane.name)) return
    reachability.note(lane.name, site, settlement?.reply ?? '', clock.now())
  }

  /** To be called when the result is written, or cannot be. */
  const written = (
    stream: Stream,
    settlement: NonNullable<Attempted['settlement']>,
    how: Recorded,
  ) => {
    if (how === 'stuck') unwritable.add(settlement.id)
    // The bounce may have paused its account: mail that was claimed ahead before that must not leave.
    if (settlement.kind === 'bounced') {
      ahead.giveBackStopped(stream.accountId).catch((error) => {
        log.error({ error }, 'Whether an account is paused could not be read')
      })
    }
    if (settlement.kind === 'deferred' || settlement.kind === 'held') {
      admission.note({ ...keyOf(stream), dueAt: settlement.dueAt })
    }
    leave(settlement.id)
    onEnded()
  }

  const attempt = async (stream: Stream, delivery: Claimed, slot: DeliverySlot) => {
    const attempted = await attempts.attempt(delivery, slot)
    const { settlement, fault, restMs } = attempted
    freeSlot(stream, slot, attempted)
    if (settlement === undefined) {
      // The mail was not tried, and perhaps is not to be tried at once.
      const dueAt =
        restMs === undefined ? delivery.dueAt : Math.max(delivery.dueAt, clock.now() + restMs)
      await ahead.giveBackBegun(stream, [{ ...delivery, dueAt }]).finally(() => leave(delivery.id))
      return
    }
    recorder.record({ settlement, fault, done: (how) => written(stream, settlement, how) })
    onEnded()
  }

  return {
    begin(stream, delivery, slot) {
      inFlight.add(delivery.id)
      ahead.began(stream)
      composing.whenNear(delivery.class, () => void attempt(stream, delivery, slot))
    },
    endAnew(stream, delivery) {
      const settlement = recorder.endOf(delivery)
      if (settlement === undefined) return false
      inFlight.add(delivery.id)
      recorder.record({ settlement, done: (how) => written(stream, settlement, how) })
      return true
    },
    has: (id) => inFlight.has(id) || unwritable.has(id),
    isIdle: () => inFlight.size === 0,
    cannotWrite: recorder.stuck,
    stop() {
      stopped = true
      return new Promise((resolve) => {
        onIdle = resolve
        if (inFlight.size === 0) resolve()
      })
    },
  }
}
