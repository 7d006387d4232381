import { dayMs, dayNumber } from '../../clock/index.js'
import type { WarmUp } from '../shaping/index.js'
import {
  bulkLimit,
  rampLimit,
  type SourceState,
  today,
  usedReason,
  type WaitReason,
} from '../shaping/index.js'

/** The rations of all sources, as the days of the run go by. */
export interface Rations {
  /** The rations of a source, for mails that each stand for several. */
  of(source: string, each: number): WarmUp
}

/**
 * Like `warm-up.ts` over the rows of `sources`, by the same ramp, but in one place, which knows at once what is left.
 */
export function makeRations(states: ReadonlyMap<string, SourceState | undefined>): Rations {
  const now = new Map(states)
  const limitAt = (source: string, at: number) => {
    const state = today(now.get(source), at)
    now.set(source, state)
    return { state, limit: rampLimit(state.rampDay) }
  }
  return {
    of(source, each) {
      let told: WaitReason = { why: '' }
      let seenAt = 0
      return {
        wait(_of, at) {
          seenAt = at
          const { state, limit } = limitAt(source, at)
          if (state.sent + each <= bulkLimit(limit)) return 0
          told = usedReason(state.rampDay)
          return (dayNumber(at) + 1) * dayMs - at
        },
        reason: () => told,
        take() {
          const { state } = limitAt(source, seenAt)
          now.set(source, { ...state, sent: state.sent + each })
          return { left: 0 }
        },
        giveBack() {},
      }
    },
  }
}
