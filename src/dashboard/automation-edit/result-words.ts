const words: Readonly<Record<string, string>> = {
  started: 'begin',
  sent: 'are sent the mail',
  waited: 'have waited',
  waiting: 'wait',
  running: 'are still in it',
  met: 'yes',
  not_met: 'no',
  received: 'it came',
  timed_out: 'it did not come',
  completed: 'are through',
  exited: 'leave',
  updated: 'are changed',
  skipped: 'are passed over',
  failed: 'fail',
}

/** What came of a step, for one person or some. */
export const resultWords = (result: string): string => words[result] ?? result.replace(/[_:]/g, ' ')
