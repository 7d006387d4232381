import type { StepStanding } from '../../automations/index.js'

/**
 * What became of who came to a step: `on` went on by one of its ways, `left` left there by none of them: they
 * bounced, unsubscribed, reached the goal, failed, were taken out or moved to another version. Undefined where nobody counts.
 */
export function leftStep({
  type,
  counts,
  present,
}: Pick<StepStanding, 'type' | 'counts' | 'present'>): { on: number; left: number } | undefined {
  // Who stands before the first step has come to none.
  if (counts === null || type === 'trigger') return undefined
  const { entered, done, skipped, met, not_met, received, timed_out } = counts
  const on = done + skipped + met + not_met + received + timed_out
  return { on, left: Math.max(0, entered - present - on) }
}
