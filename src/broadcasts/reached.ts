import { counted } from '../amounts/index.js'
import type { Broadcast } from './broadcast.js'
import { neverSent } from './stop.js'

type Standing = Pick<
  Broadcast,
  'status' | 'sent_at' | 'recipients' | 'cancelled' | 'waiting' | 'audience'
>

/** What is said where nobody is known whom a campaign did not reach, without a full stop. */
export function reachedWords(broadcast: Standing): string {
  const { status, sent_at, recipients, waiting, audience } = broadcast
  const never = neverSent(broadcast)
  if (never > 0) {
    return `Nobody of those to whom it went out; before it went out to ${counted(never, 'person', 'people')}, the rest was cancelled`
  }
  if (sent_at === null || recipients === 0) return 'None of its mails is made yet'
  const unmade = status === 'sent' ? 0 : Math.max(0, audience - recipients)
  const left = waiting + unmade
  return left === 0
    ? 'It reached everybody'
    : `Nobody so far, and ${counted(left, 'mail is', 'mails are')} still on the way`
}
