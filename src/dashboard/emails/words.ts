import type { EmailStatus } from '../../store/index.js'
import type { Tone } from '../shell/parts.js'

/** How a status, or what happened to a mail, looks: in a word and a colour. */
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

/** The ways to look at the log, each one status or some that mean the same to people. */
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
