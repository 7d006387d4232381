import { isRecent } from '../../clock/index.js'

/** Something that is in force for a time, as plain data that outlives restarts. */
export interface Lasting {
  readonly until: number
  /** When it began, or was last made longer; rows of older releases have none. */
  readonly at?: number
}

/** Whether it is still in force. What began while the clock was ahead is over when the clock is set back. */
export const lasts = ({ until, at }: Lasting, now: number): boolean =>
  now < until && (at === undefined || isRecent(at, now, until - at))
