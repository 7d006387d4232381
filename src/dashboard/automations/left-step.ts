import type { StepStanding } from '../../automations/index.js'

type Counts = NonNullable<StepStanding['counts']>

/** How many of those who came to a step were moved there; undefined where nobody was. */
export function movedHereWords(counts: Pick<Counts, 'entered' | 'moved_here'>): string | undefined {
  const { entered, moved_here: moved } = counts
  if (moved === 0) return undefined
  return `${moved >= entered ? 'all' : moved.toLocaleString('en-GB')} by a move`
}

/**
 * What became of those who came to a step. `on` went on by one of its ways; `moved` were moved to another version;
 * `left` left there by no way: they bounced, unsubscribed, reached the goal, failed or were taken out. Undefined where
 * nobody counts.
 */
export function leftStep({
  type,
  counts,
  present,
}: Pick<StepStanding, 'type' | 'counts' | 'present'>):
  | { on: number; left: number; moved: number }
  | undefined {
  // People before the first step have come to none.
  if (counts === null || type === 'trigger') return undefined
  const { entered, done, skipped, met, not_met, received, timed_out, moved_away: moved } = counts
  const on = done + skipped + met + not_met + received + timed_out
  return { on, moved, left: Math.max(0, entered - present - on - moved) }
}
