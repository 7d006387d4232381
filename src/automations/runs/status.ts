import type { EndStatus } from '../../runs/index.js'

// In a file of its own, apart from what reads and writes runs, as the contract names these too.

/** What a run is while it is under way. */
export const liveStatuses = ['running', 'waiting'] as const
/** How a run may have ended. */
export const endStatuses = [
  'completed',
  'exited',
  'failed',
  'cancelled',
] as const satisfies readonly EndStatus[]
/** All that a run may be, live ones first. */
export const runStatuses: readonly RunStatus[] = [...liveStatuses, ...endStatuses]
/** How a run stands. */
export type RunStatus = (typeof liveStatuses)[number] | EndStatus

/** The statuses that a text names, with commas; all without a text. */
export const statusesIn = (text: string | undefined): readonly RunStatus[] =>
  text === undefined ? runStatuses : runStatuses.filter((one) => text.split(',').includes(one))

/** Why an event starts no run (automations.md, O4). */
export const entryRefusals = [
  'already_running',
  'already_entered',
  'too_soon',
  'filtered',
  'suppressed',
  'too_old',
  'limit',
] as const
/** One of these reasons. */
export type EntryRefusal = (typeof entryRefusals)[number]
