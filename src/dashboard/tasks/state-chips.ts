import type { TaskState } from '../../tasks/index.js'
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
