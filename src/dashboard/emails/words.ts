import type { EmailStatus } from '../../store/index.js'
import type { Tone } from '../shell/parts.js'

/** The colour of a status, or of what happened to a mail. */
export const toneOf = (what: string): Tone => tones[what] ?? 'none'

const tones: Record<string, Tone> = {
  delivered: 'good',
  bounced: 'bad',
  failed: 'bad',
  complained: 'bad',
  deferred: 'doubt',
  held: 'doubt',
  unsubscribed: 'doubt',
}

/** The choices of the log's status filter: each is one status, or several that mean the same to people. */
export const statusChips: readonly { label: string; status: readonly EmailStatus[] }[] = [
  { label: 'All', status: [] },
  { label: 'Waiting', status: ['queued', 'sending'] },
  { label: 'Scheduled', status: ['scheduled'] },
  { label: 'Delivered', status: ['delivered'] },
  { label: 'Sent', status: ['sent'] },
  { label: 'Bounced', status: ['bounced'] },
  { label: 'Failed', status: ['failed'] },
  { label: 'Suppressed', status: ['suppressed'] },
  { label: 'Cancelled', status: ['cancelled'] },
]
