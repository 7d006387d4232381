import type { Clock } from '../../clock/index.js'
import type { Claim, Claimed } from '../../deliveries/index.js'
import type { Log } from '../../log/index.js'
import type { Admission, Admitted, DeliverySlot, Stream } from '../admission/index.js'
import type { Ahead } from './ahead.js'
import type { Runs } from './runs.js'

/** Hands rows of the queue to the delivery slots that were taken for them. */
export interface HandOut {
  /** Begins what was claimed ahead; true when more is to be claimed. */
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
 * Slots and deliveries meet here. A slot without a delivery goes back at once, because others stand in line for it.
 */
export function makeHandOut(
  { clock, log }: { clock: Pick<Clock, 'now'>; log: Log },
  { admission, ahead, runs }: HandOutParts,
): HandOut {
  /** Begins the deliveries in these slots, and leaves the slots that were not needed. */
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
      // The stream has nothing more and has left the line.
      if (stream.path === undefined) {
        for (const slot of slots.splice(0)) admission.withdraw(slot)
        return false
      }
      return slots.length > 0 || ahead.isLow(stream)
    },

    claimed({ stream, slots }, claim, { now, stopped }) {
      const { taken: found = [], exhausted } = claim ?? {}
      // When the clock is set forward, leases end before their attempts do. The claim has just renewed them.
      const taken = found.filter(
        (one) => !runs.has(one.id) && !ahead.holds(stream, one.id) && !runs.endAnew(stream, one),
      )
      stream.claiming = false
      // After a stop nothing begins any more: `Ahead.close` gives the rows back.
      const begun = stopped ? [] : taken.slice(0, slots.length)
      const more = taken.slice(begun.length)
      if (more.length + ahead.left(stream) > 0) {
        // With some left the stream stays in line, though the table may have no more of it.
        if (exhausted !== undefined) stream.claiming = true
        ahead.keep(stream, more, exhausted)
      } else if (exhausted !== undefined) admission.exhausted(stream, exhausted.nextDueAt)
      admission.refreshSite(stream, now)
      const left = [...slots]
      begin(stream, begun, left)
      for (const slot of left) admission.withdraw(slot)
      // Since the rows were asked for, a gate may have closed, or the site's look-up may have begun.
      if (more.length > 0 && admission.isHeld(stream)) ahead.giveBack([stream])
    },
  }
}

// How long a delivery waits whose source has no connection to spare: most attempts are over by then.
const busyMs = 2_000

/**
 * Which delivery leaves in which slot. A delivery that was put off leaves from the same source again while that may
 * send: a greylist would begin anew with another. Takes the slots that are used out of `slots`, which are at least as
 * many as the deliveries. `busy`: deliveries whose source has no room just now. `onRoom`: called when a slot changed
 * its source, so that the site has room from the first one.
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
