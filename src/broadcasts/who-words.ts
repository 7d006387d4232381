import { leaveWords } from '../preferences/index.js'
import type { Broadcast } from './broadcast.js'
import type { AskedByRule } from './people-rule.js'
import type { Who } from './report-people.js'

/** What each list of people contains, in words. */
export const whoWords: Record<Who, { label: string; says: string }> = {
  not_sent: { label: 'Never sent', says: 'to whom it never went out: the rest was cancelled' },
  left_out: {
    label: 'Left out at once',
    says: 'of the audience who got no mail when mails were made: they must not be mailed',
  },
  made: { label: 'Mails made', says: 'for whom a mail was made' },
  sent: { label: 'Sent', says: 'to whom it went out, whatever their server said' },
  delivered: { label: 'Delivered', says: 'whose server has taken the mail' },
  opened: { label: 'Opened', says: 'who opened it' },
  not_opened: {
    label: 'Not opened',
    says: 'who got it, and have neither opened it nor clicked a link',
  },
  clicked: { label: 'Clicked', says: 'who clicked a link' },
  not_clicked: { label: 'Not clicked', says: 'who got it and have clicked no link' },
  left: {
    label: 'Left',
    says: 'who unsubscribed, or left the topic, by this mail, those among them who have come back since',
  },
  complained: { label: 'Complained', says: 'who reported it as spam' },
  unreached: { label: 'Did not get it', says: 'who did not get it' },
  bounced: { label: 'Bounced', says: 'whose server refused the mail' },
  failed: { label: 'Given up', says: 'whose mail was given up: no server took it in time' },
  suppressed: {
    label: 'Left out',
    says: 'who were not mailed: they had left, bounced or complained since it was made',
  },
  waiting: { label: 'Waiting', says: 'whose mail waits' },
  cancelled: { label: 'Cancelled', says: 'whose mail was cancelled' },
}

/** The name of the segment of the people behind a number of a campaign's report. */
export function nameOfPeople(
  { name, subject }: Pick<Broadcast, 'name' | 'subject'>,
  asked: AskedByRule,
  { url }: { url?: string | undefined } = {},
): string {
  const { who, link, reason, why, provider, variant } = asked
  const part = [
    link !== undefined && (url ?? `link ${link}`),
    reason && `reason ${reason}`,
    why && (leaveWords[why] ?? why),
    provider && `at ${provider}`,
    variant && `version ${variant}`,
  ].filter(Boolean)
  const what = [whoWords[who].label, ...part].join(', ')
  const label = `${what}: ${name || subject || 'a campaign'}`
  return [...label].slice(0, mostName).join('')
}

// The greatest length of a segment's name.
const mostName = 100
