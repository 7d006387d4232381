import { copyTags } from './copy-tags.js'
import { liquidWords, mergeValues, stranger } from './merge-tags.js'

/** What templates of automations see beside their variables (automations.md §3.3). */
export const stepTags = ['contact', 'event', 'trigger', 'waits']

const tagNames = [
  ...liquidWords,
  ...stepTags,
  ...Object.keys(mergeValues(stranger)),
  ...Object.keys(copyTags),
  // The spelling of people who write one from memory: `unsubscribeUrl`.
  ...Object.keys(copyTags).map((name) => name.replaceAll('_', '')),
]
const builtIn = new Set(tagNames.map((name) => name.toLowerCase()))

/** Whether a merge tag of this name, whatever its case, stands for something else than a field of a contact's metadata. */
export const isBuiltInTag = (name: string): boolean => builtIn.has(name.toLowerCase())
