import { plural } from '../format.js'

// Why a step cannot be taken yet, in the account's words.
const blocks: Readonly<Record<string, string>> = {
  suspended: 'the account is suspended',
  quota: 'the mails of your plan are used up; it goes on when they count anew',
  paused: 'sending is paused',
  domain: 'the sender’s domain is not verified',
  plan: 'the account has no plan for it',
  queue_full: 'this server has too much mail to send',
  window: 'its hours for mail have not begun',
  cap: 'it has sent its mails of this hour',
}

/** Why people wait who could go on by their time. */
export function blockedWords(kind: 'held' | 'blocked', reason: string, runs: number): string {
  const who = `${plural(runs, 'person', '').replace(/persons$/, 'people')} ${runs === 1 ? 'is' : 'are'}`
  if (kind === 'held') return `${who} held: ${reason}.`
  return `${who} waiting: ${blocks[reason] ?? reason}.`
}

/** The same in one run's sentence. */
export const blockWords = (reason: string): string => blocks[reason] ?? reason
