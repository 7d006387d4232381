import type { EventDetail, EventType } from '../events/index.js'
import { simulatorDomain } from '../simulator/index.js'
import type { Counts } from './counts.js'

/** An event of the log, as far as the figures go by it. */
export interface LoggedEvent {
  id: number
  accountId: string
  emailId: string
  deliveryId: number | null
  recipient: string | null
  class: 0 | 1 | 2
  type: EventType
  at: number
  detail: EventDetail | null
}

const one = 1

/**
 * What an event adds to the figures of its day. A recipient is `answered` with the first end that a
 * server has decided; what comes later (a bounce after the 250) is counted beside it.
 */
export function countsOf({ type, recipient, detail }: LoggedEvent): Partial<Counts> | undefined {
  const answered = detail?.before === undefined ? one : 0
  switch (type) {
    case 'delivered':
    case 'relayed':
      return { answered, [type]: one }
    case 'bounced':
      // A refusal that nobody has classified is a hard one, as for `protection/`.
      if (detail?.bounceType === 'Transient') return { answered, bounced_soft: one }
      return { answered, bounced_hard: one }
    case 'failed':
    case 'suppressed':
    case 'deferred':
      return { [type]: one }
    case 'complained': {
      const simulated = recipient?.toLowerCase().endsWith(`@${simulatorDomain}`) === true
      const proved = detail?.evidence !== undefined || simulated
      return proved ? { complained: one } : { complained_unproved: one }
    }
    case 'opened':
    case 'clicked':
      if (detail?.machine) return { [`${type}_machine`]: one }
      return { [type]: one, [`${type}_unique`]: detail?.first ? one : 0 }
    // The attempt is no figure, and who leaves is in the record of consent, however it was said.
    case 'sent':
    case 'unsubscribed':
      return undefined
  }
}
