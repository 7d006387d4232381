import type { EventDetail } from '../../events/index.js'
import type { MailFacts } from '../tally.js'

/** What a row of a log tells about a campaign's recipient, beside the counts. */
export interface CampaignTold {
  log: 'event' | 'consent'
  /** The row's place in that log. */
  id: number
  at: number
  accountId: string
  emailId: string
  broadcastId: string
  /** The address as the log has it. */
  recipient: string
  /** The recipient's provider, as the figures name it; undefined where nobody has looked. */
  provider?: string | undefined
  what: 'opened' | 'clicked' | 'left' | 'complained' | 'unreached' | 'taken'
  /** True when a machine made the open or click. */
  machine: boolean
  /** Where a click led. */
  url?: string | undefined
  reason?: UnreachedReason
}

/** Why a mail did not arrive. */
export interface UnreachedReason {
  kind: 'bounced' | 'failed' | 'suppressed'
  class: string
  /** What the server said, or our own sentence. */
  reply: string
}

/** An event as far as campaigns are counted by it. */
interface CampaignEvent {
  id: number
  accountId: string
  emailId: string
  recipient: string | null
  type: string
  at: number
  reply: string | null
  detail: EventDetail | null
}

/**
 * What events tell about recipients of campaigns, and nothing about other mail. That a server has taken a mail is
 * told only for campaigns that are `noted`, because it is true of nearly everybody.
 */
export function toldBy(
  events: readonly CampaignEvent[],
  facts: ReadonlyMap<string, MailFacts>,
  noted: ReadonlySet<string>,
): CampaignTold[] {
  return events.flatMap((event) => {
    const { id, at, accountId, emailId, recipient } = event
    const broadcastId = facts.get(emailId)?.broadcastId ?? null
    const more = toldOf(event)
    if (broadcastId === null || recipient === null || more === undefined) return []
    if (more.what === 'taken' && !noted.has(broadcastId)) return []
    return [{ log: 'event' as const, id, at, accountId, emailId, broadcastId, recipient, ...more }]
  })
}

function toldOf({
  type,
  reply,
  detail,
}: CampaignEvent): Pick<CampaignTold, 'what' | 'machine' | 'url' | 'reason'> | undefined {
  const machine = detail?.machine === true
  switch (type) {
    case 'opened':
      return { what: type, machine }
    case 'clicked':
      return { what: type, machine, url: detail?.url }
    case 'delivered':
    case 'relayed':
      return { what: 'taken', machine: false }
    case 'complained':
      return { what: type, machine: false }
    case 'bounced':
      // A bounce after a bounce is the same recipient's, as in the counts.
      if (detail?.before === 'bounced') return undefined
      return unreached(type, detail?.bounceClass ?? 'other', reply)
    case 'failed':
      return unreached(type, detail?.bounceClass ?? 'given-up', reply)
    case 'suppressed':
      return unreached(type, 'suppressed', reply)
    default:
      return undefined
  }
}

const unreached = (kind: UnreachedReason['kind'], of: string, reply: string | null) => ({
  what: 'unreached' as const,
  machine: false,
  reason: { kind, class: of, reply: reply ?? '' },
})
