import type { RunState } from './run.js'
import type { Walked } from './walked.js'

/**
 * A run after a walk, as it waits or goes on; undefined if the walk has ended it. Entries of history
 * are added as they are: `appended` keeps them few.
 */
export function advanced(run: RunState, walked: Walked, now: number): RunState | undefined {
  const { next, heard, waits, steps, mails, history } = walked
  if (next.kind === 'end') return undefined
  const { stepId } = next
  const all = { ...run, stepId, wokenBy: null, heard, waits, steps, mails }
  const added = { ...all, history: [...run.history, ...history] }
  switch (next.kind) {
    case 'park': {
      // One that was looked at too early is still where it was.
      const stays = walked.steps === run.steps && run.stepId === stepId
      const enteredAt = stays ? (run.enteredAt ?? now) : now
      return { ...added, enteredAt, dueAt: next.dueAt }
    }
    case 'blocked':
      return { ...added, enteredAt: null, dueAt: next.until }
    case 'continue':
      return { ...added, enteredAt: null, dueAt: now }
  }
}
