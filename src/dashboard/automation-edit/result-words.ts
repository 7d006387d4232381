import { endingWords } from '../../automations/index.js'

/** What came of a step: for one person, and for some of whom there is a number. */
interface Words {
  one: string
  some: string
}

const words: Readonly<Record<string, Words>> = {
  started: { one: 'they enter', some: 'enter' },
  sent: { one: 'the mail is sent', some: 'are sent the mail' },
  waited: { one: 'the wait is over', some: 'have waited' },
  waiting: { one: 'they wait', some: 'wait' },
  running: { one: 'they are still in it', some: 'are still in it' },
  met: { one: 'yes', some: 'yes' },
  not_met: { one: 'no', some: 'no' },
  received: { one: 'it came', some: 'it came' },
  timed_out: { one: 'it did not come in time', some: 'it did not come' },
  completed: { one: 'they come to the end', some: 'come to the end' },
  exited: { one: 'they leave', some: 'leave' },
  updated: { one: 'the contact is changed', some: 'are changed' },
  skipped: { one: 'it is passed over', some: 'are passed over' },
  failed: { one: 'it fails', some: 'fail' },
  goal: { one: 'they reach the goal', some: 'reach the goal' },
  exit: { one: 'they leave here', some: 'leave here' },
  branch: { one: 'they go the way', some: 'go the way' },
  ended: { one: 'they leave', some: 'leave' },
}

// What sending and waiting add to a result.
const additions: Readonly<Record<string, string>> = {
  left_topic: 'they have left its topic',
  unchanged: 'nothing was new',
}

/** `skipped:left_topic`, `ended:goal`: a result and what it adds, for one person or for `some`. */
export function resultWords(result: string, who: keyof Words = 'one'): string {
  const [kind = '', ...more] = result.split(':')
  const rest = more.join(':')
  const said = words[kind]?.[who] ?? kind.replace(/_/g, ' ')
  if (rest === '') return said
  return kind === 'branch'
    ? `${said} “${rest}”`
    : `${said} (${additions[rest] ?? reasonWords(rest)})`
}

const reasons: Readonly<Record<string, string>> = {
  exit_step: 'a step ends it',
  exit_rule: 'an event came that ends it',
  timed_out: 'what was waited for did not come',
  limit: 'they took 1,000 steps, or 100 mails were made',
}

/** Why somebody leaves; as it is where an author wrote it into a step. */
export const reasonWords = (reason: string): string => reasons[reason] ?? endingWords(reason)
