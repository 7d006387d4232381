import type { LiveGate } from '../../deliveries/index.js'
import { siteInWords } from '../routing/index.js'
import type { Held } from '../shaping/index.js'
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
    const waits = held === undefined ? 'it waits for its turn there' : relayHeld(held)
    const says = `Mail to ${lane.name} goes by ${smartHostsSite}: ${waits}`
    return { gate: 'failover', says, ...(held?.until != null && { until: held.until }) }
  }
  // The order says for whom and until when by itself.
  if (held?.gate === 'hold' || held?.gate === 'away') {
    return {
      gate: held.gate,
      says: held.why,
      ...(held.until === null ? {} : { until: held.until }),
    }
  }
  if (held !== undefined) {
    const says = `${wordsOf[held.gate]} ${siteInWords(path.site)}: ${held.why}`
    return { gate: held.gate, says, ...(held.until === null ? {} : { until: held.until }) }
  }
  if (thread.isFull) {
    const says = `All ${thread.total} connections (outbound.max_connections) are in use`
    return { gate: 'connections', says }
  }
  return {
    gate: 'turn',
    says: `It waits for its turn among the mail for ${siteInWords(path.site)}`,
  }
}

/** A site's own words would be taken for those about the recipient's domain. */
const relayHeld = ({ gate, why }: Held) =>
  gate === 'suspended'
    ? `these take no mail for now; 'Failover: the smart host takes no mail' in the log tells why`
    : why

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
