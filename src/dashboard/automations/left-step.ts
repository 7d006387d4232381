import type { StepStanding } from '../../automations/index.js'

type Counts = NonNullable<StepStanding['counts']>

/** Whom a move has brought to a step, of those who came there; undefined where nobody was moved. */
export function movedHereWords(counts: Pick<Counts, 'entered' | 'moved_here'>): string | undefined {
  const { entered, moved_here: moved } = counts
  if (moved === 0) return undefined
  return `${moved >= entered ? 'all' : moved.toLocaleString('en-GB')} by a move`
}

/**
 * What became of who came to a step: `on` went on by one of its ways, `moved` were moved to another version, `left` left there
 * by none of them: they bounced, unsubscribed, reached the goal, failed or were taken out. Undefined where nobody counts.
 */
export function leftStep({
  type,
  counts,
  present,
}: Pick<StepStanding, 'type' | 'counts' | 'present'>):
  | { on: number; left: number; moved: number }
  | undefined {
  // Who stands before the first step has come to none.
  if (counts === null || type === 'trigger') return undefined
  const { entered, done, skipped, met, not_met, received, timed_out, moved_away: moved } = counts
  const on = done + skipped + met + not_met + received + timed_out
  return { on, moved, left: Math.max(0, entered - present - on - moved) }
}
