import type { ImportTask } from '../../contacts/index.js'
import type { AccountTask, TaskState } from '../../tasks/index.js'
import type { Tone } from '../shell/parts.js'

/** How an import is, in a word and a colour. */
export const stateChips: Readonly<Record<TaskState, { text: string; tone: Tone }>> = {
  arriving: { text: 'arriving', tone: 'none' },
  draft: { text: 'not begun', tone: 'none' },
  running: { text: 'running', tone: 'good' },
  paused: { text: 'paused', tone: 'doubt' },
  stopped: { text: 'stopped', tone: 'doubt' },
  done: { text: 'done', tone: 'good' },
  failed: { text: 'failed', tone: 'bad' },
  undoing: { text: 'being undone', tone: 'doubt' },
  undone: { text: 'undone', tone: 'none' },
}

/** A task as the import that it is: no task is anything else yet. */
export const importOf = (task: AccountTask): ImportTask => task as unknown as ImportTask
