import type { LiveGate } from '../../deliveries/index.js'
import { siteInWords } from '../routing/index.js'
import type { Held, WaitReason } from '../shaping/index.js'
import { smartHostsSite } from './delivery-slots.js'
import type { Stream } from './waiting.js'

export type { LiveGate }

/** Why a due stream's mail has not left, as the thread that works it knows. */
export function explainGate(
  { lane, class: of, path }: Stream,
  thread: { isRouting: boolean; isClaiming: boolean; isFull: boolean; total: number },
): LiveGate {
  if (thread.isRouting || path === undefined) {
    return { gate: 'dns', says: `The mail servers of ${lane.name} are being looked up` }
  }
  // A claim takes every slot that there is, and gives back those for which it finds no mail.
  if (thread.isClaiming) {
    return { gate: 'turn', says: `The next of the mail for ${lane.name} are being claimed` }
  }
  const held = path.held[of]
  if (path.site === smartHostsSite) {
    const says = (waits: string) => `Mail to ${lane.name} goes by ${smartHostsSite}: ${waits}`
    if (held === undefined) return { gate: 'failover', says: says('it waits for its turn there') }
    return closed('failover', relayHeld(held), held.until, says)
  }
  // The order's own text says for whom and until when.
  if (held?.gate === 'hold' || held?.gate === 'away') {
    return closed(held.gate, held, held.until)
  }
  if (held !== undefined) {
    const says = (why: string) => `${wordsOf[held.gate]} ${siteInWords(path.site)}: ${why}`
    return closed(held.gate, held, held.until, says)
  }
  if (thread.isFull) {
    const says = `All ${thread.total} connections (outbound.max_connections) are in use`
    return { gate: 'connections', says, plain: `All ${thread.total} connections are in use` }
  }
  return {
    gate: 'turn',
    says: `It waits for its turn among the mail for ${siteInWords(path.site)}`,
  }
}

/** A gate with its reason, for the operator and, where that says less, for people of an account. */
function closed(
  gate: LiveGate['gate'],
  { why, plain }: WaitReason,
  until: number | null,
  says = (reason: string) => reason,
): LiveGate {
  return {
    gate,
    says: says(why),
    ...(plain !== undefined && { plain: says(plain) }),
    ...(until !== null && { until }),
  }
}

/** The smart hosts' own words are left out: a reader would take them for words about the recipient's domain. */
const relayHeld = (held: Held): WaitReason =>
  held.gate === 'suspended'
    ? {
        why: `these take no mail for now; 'Failover: the smart host takes no mail' in the log tells why`,
        plain: 'these take no mail for now',
      }
    : held

/** The gates that a site can close, in words for people; the reason follows after them. */
const wordsOf = {
  suspended: 'Nothing is sent for now to',
  connections: 'All connections are in use to',
  'warm-up': 'The warm-up of the source address holds mail to',
  rate: 'The rate is used up for',
  hold: 'The operator holds mail to',
  away: 'Another node sends mail to',
  brake: 'Campaign mail is slowed down to',
} as const
