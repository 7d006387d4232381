import type { Broadcast, BroadcastStatus } from './broadcast.js'

/** How a campaign stands for whoever looks at it. */
export interface Standing {
  status: BroadcastStatus
  /** Why it is paused or has failed. */
  reason: string | null
}

/**
 * One that is sending, or should be by now, while its account is stopped (`stop`: why) is paused,
 * though its row does not say so: it goes on by itself once the stop is cleared.
 */
export function standingOf(
  { status, reason, scheduled_at }: Broadcast,
  stop: string | null,
  now: number,
): Standing {
  const due = status === 'sending' || (status === 'scheduled' && (scheduled_at ?? now) <= now)
  return due && stop !== null ? { status: 'paused', reason: stop } : { status, reason }
}

/** How many it is for: counted before it was dispatched, and the mails themselves since all are made. */
export const recipientCount = ({ status, expanded, recipients, audience }: Broadcast) =>
  expanded === 1 || status === 'cancelled' ? recipients : audience

export interface Rates {
  openRate: number
  clickRate: number
}

/**
 * In percent of what has arrived, to two decimals. What a smart host took on counts as arrived: few of
 * them ever tell more.
 */
export function ratesOf({ delivered, relayed, opened, clicked }: Broadcast): Rates {
  const arrived = delivered + relayed
  const rate = (count: number) => (arrived === 0 ? 0 : Math.round((count / arrived) * 10_000) / 100)
  return { openRate: rate(opened), clickRate: rate(clicked) }
}
