import { ApiError } from '../../errors/index.js'
import type { TaskState } from '../../tasks/index.js'

const words: Readonly<Record<TaskState, string>> = {
  arriving: 'has not arrived yet',
  draft: 'has not begun',
  running: 'goes on',
  paused: 'is paused',
  stopped: 'was stopped',
  done: 'is done',
  failed: 'has failed',
  undoing: 'is being undone',
  undone: 'was undone',
}

/**
 * Does what a button asks of a task. A button of a page that was open for long may come too late: of a task that is in none
 * of the states `from` any more it is said which one it is in, in place of the refusal.
 */
export async function unlessLate(
  act: () => Promise<unknown>,
  stateNow: () => Promise<TaskState>,
  from: readonly TaskState[],
): Promise<void> {
  const refuseIn = (state: TaskState) => {
    if (from.includes(state)) return
    throw new ApiError(
      'conflict',
      `Nothing was changed: it ${words[state]} already, as you see here`,
    )
  }
  refuseIn(await stateNow())
  try {
    await act()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'conflict') refuseIn(await stateNow())
    throw error
  }
}

/** The states in which a task may be moved to another one. */
export const movableFrom = (to: 'paused' | 'running' | 'stopped'): readonly TaskState[] =>
  to === 'paused' ? ['running'] : to === 'running' ? ['paused'] : ['running', 'paused']
