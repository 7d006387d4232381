import type { Clock } from '../../clock/index.js'
import type { Claim, Claimed } from '../../deliveries/index.js'
import type { Log } from '../../log/index.js'
import type { Admission, Admitted, DeliverySlot, Stream } from '../admission/index.js'
import type { Ahead } from './ahead.js'
import type { Runs } from './runs.js'

/** Hands rows of the queue to the delivery slots that were taken for them. */
export interface HandOut {
  /** Begins what was claimed ahead; true when there is something to claim. */
  claimedAhead(admitted: Admitted): boolean
  /**
   * Begins the rows of a claim for which there are slots, keeps the others for later, and gives back slots
   * without a row. `stopped`: nothing begins any more.
   */
  claimed(
    asked: AskedRows,
    claim: Claim | undefined,
    state: { now: number; stopped: boolean },
  ): void
}

/** The parts of the thread that meet here. */
export interface HandOutParts {
  admission: Admission
  ahead: Ahead
  runs: Runs
}

/** What a claim is to bring: `limit` rows, some of them for the slots. */
export interface AskedRows extends Admitted {
  limit: number
}

/**
 * Slots and deliveries meet here. A slot that no delivery is found for goes back at once, because
 * others stand in line for it.
 */
export function makeHandOut(
  { clock, log }: { clock: Pick<Clock, 'now'>; log: Log },
  { admission, ahead, runs }: HandOutParts,
): HandOut {
  /** Begins the deliveries in these slots, and leaves those that were not needed. */
  const begin = (stream: Stream, deliveries: readonly Claimed[], slots: DeliverySlot[]) => {
    const { pairs, busy } = pair(deliveries, slots, admission.roomAt)
    for (const [delivery, slot] of pairs) runs.begin(stream, delivery, slot)
    if (busy.length === 0) return
    const later = busy.map((delivery) => ({ ...delivery, dueAt: clock.now() + busyMs }))
    ahead.giveBackBegun(stream, later).catch((error) => {
      log.error({ error, deliveries: busy.length }, 'Deliveries could not be given back')
    })
  }
  return {
    claimedAhead({ stream, slots }) {
      while (slots.length > 0) {
        const delivery = ahead.take(stream)
        if (delivery === undefined) break
        begin(stream, [delivery], slots)
      }
      // It came to its end, and has left the line.
      if (stream.path === undefined) {
        for (const slot of slots.splice(0)) admission.withdraw(slot)
        return false
      }
      return slots.length > 0 || ahead.isLow(stream)
    },

    claimed({ stream, slots }, claim, { now, stopped }) {
      const { taken: found = [], exhausted } = claim ?? {}
      // A clock that was set forward ends leases before their attempts; they are just renewed.
      const taken = found.filter(
        (one) => !runs.has(one.id) && !ahead.holds(stream, one.id) && !runs.endAnew(stream, one),
      )
      stream.claiming = false
      // After a stop nothing begins any more: `Ahead.close` gives it back.
      const begun = stopped ? [] : taken.slice(0, slots.length)
      const more = taken.slice(begun.length)
      if (more.length + ahead.left(stream) > 0) {
        // With some left it stays in line, though the table may have no more of it.
        if (exhausted !== undefined) stream.claiming = true
        ahead.keep(stream, more, exhausted)
      } else if (exhausted !== undefined) admission.exhausted(stream, exhausted.nextDueAt)
      admission.refreshSite(stream, now)
      const left = [...slots]
      begin(stream, begun, left)
      for (const slot of left) admission.withdraw(slot)
      // A gate may have closed, or the lane's site be looked up, since they were asked for.
      if (more.length > 0 && admission.isHeld(stream)) ahead.giveBack([stream])
    },
  }
}

// So long a delivery waits whose source has no connection to spare: most attempts are over then.
const busyMs = 2_000

/**
 * Which delivery leaves in which slot. One that was put off leaves from the source that it was put off from, while that may
 * send: a greylist would begin anew with another. Takes the slots that are used out of `slots`, which are as many as the
 * deliveries at least. `busy`: their source has no room just now. `onRoom`: the site has room from another source instead.
 */
function pair(
  deliveries: readonly Claimed[],
  slots: DeliverySlot[],
  onRoom: (site: string) => void,
) {
  const pairs: [Claimed, DeliverySlot][] = []
  const busy: Claimed[] = []
  const take = (delivery: Claimed, at: number) => {
    const [slot] = slots.splice(at, 1)
    if (slot !== undefined) pairs.push([delivery, slot])
  }
  const others = deliveries.filter((delivery) => {
    const at = slots.findIndex(({ source }) => source.name === delivery.source)
    if (at >= 0) take(delivery, at)
    return at < 0
  })
  for (const delivery of others) {
    const [slot] = slots
    const found = delivery.source !== null && slot?.leaveFrom?.(slot, delivery.source)
    if (found === 'changed' && slot !== undefined) onRoom(slot.siteKey)
    if (found === 'busy') busy.push(delivery)
    else take(delivery, 0)
  }
  return { pairs, busy }
}
