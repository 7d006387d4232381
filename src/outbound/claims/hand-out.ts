import type { Claim } from '../../deliveries/index.js'
import type { Admission, Admitted } from '../admission/index.js'
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
export function makeHandOut({ admission, ahead, runs }: HandOutParts): HandOut {
  return {
    claimedAhead({ stream, slots }) {
      for (let slot = slots[0]; slot !== undefined; slot = slots[0]) {
        const delivery = ahead.take(stream)
        if (delivery === undefined) break
        slots.shift()
        runs.begin(stream, delivery, slot)
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
      const taken = found.filter(({ id }) => !runs.has(id) && !ahead.holds(stream, id))
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
      for (const [j, slot] of slots.entries()) {
        const delivery = begun[j]
        if (delivery !== undefined) runs.begin(stream, delivery, slot)
        else admission.withdraw(slot)
      }
      // A gate may have closed, or the lane's site be looked up, since they were asked for.
      if (more.length > 0 && admission.isHeld(stream)) ahead.giveBack([stream])
    },
  }
}
