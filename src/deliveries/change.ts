import type { Clock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Read, Store } from '../store/index.js'
import { giveUp } from './end.js'
import { type Changes, hold, type RetriedLanes, release, retry } from './hold.js'
import { changeFitting, lanesOf, type QueueFilter } from './select.js'

/** What an operator does to deliveries that wait: `posthorn queue` and the operator's pages. */
export interface QueueChange {
  /** Whether it takes a reason, which is shown to people. */
  reason: 'none' | 'usual' | 'required'
  /** What deliveries are that it has changed, in words. */
  done: string
  /** It changes only these. */
  only?: QueueFilter
  /** The appliance is told to try these deliveries' domains at once. */
  isTold?: true
  apply: (
    tx: Read,
    ids: readonly number[],
    how: { reason: string; now: number; land: LandEvents },
  ) => Promise<Changes>
}

export type QueueChangeName = 'retry' | 'hold' | 'release' | 'fail'

export const queueChanges: Readonly<Record<QueueChangeName, QueueChange>> = {
  retry: { reason: 'none', done: 'due now', isTold: true, apply: retry },
  hold: { reason: 'usual', done: 'held', only: { held: false }, apply: hold },
  // What a surge holds goes by a decision about the surge alone (`surges/`): it may be a thief's mail.
  release: {
    reason: 'none',
    done: 'released',
    only: { held: true, notHeldBy: 'surge' },
    apply: release,
  },
  fail: { reason: 'required', done: 'ended as failed', apply: giveUp },
}

/** The reason of `hold` where the operator gives none. */
export const usualReason = 'held by the operator'

/** How many domains the running appliance is told at most; where there are more, all domains are meant. */
export const maxRetried = 100

export interface Changed extends Changes {
  seen: number
  /** Those that it does not concern: never tried yet, held, or gone meanwhile. */
  unchanged: number
  /** The domains to be tried at once, for the running appliance; empty where nothing is to be tried. */
  retried: RetriedLanes
}

interface How {
  /** As `checkedReason` gives it. */
  reason: string
  land: LandEvents
  onProgress?: (seen: number) => void
}

/** Changes all deliveries that fit and wait, in short transactions. */
export async function changeWaiting(
  deps: { store: Store; clock: Clock },
  name: QueueChangeName,
  filter: QueueFilter,
  { reason, land, onProgress }: How,
): Promise<Changed> {
  const { only, isTold, apply } = queueChanges[name]
  const lanes = new Set<string>()
  const total = await changeFitting(
    deps,
    { ...filter, ...only },
    async (tx, slice, now) => {
      if (isTold) for (const lane of await lanesOf(tx, slice)) lanes.add(lane)
      return await apply(tx, slice, { reason, now, land })
    },
    onProgress,
  )
  const unchanged = total.seen - total.changed - total.inFlight
  return { ...total, unchanged, retried: lanes.size > maxRetried ? 'all' : [...lanes] }
}

/** The reason of a change, which the sender of a mail may see. */
export function checkedReason(given: string): string {
  const reason = given.trim()
  if (/^\P{Cc}{1,200}$/u.test(reason)) return reason
  throw new OperatorError('The reason must have 1 to 200 characters and no control characters')
}
