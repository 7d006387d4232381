import type { Series } from '../metrics/index.js'
import type { OutboundStanding } from '../outbound/index.js'

/** What the running appliance tells `posthorn status`, `posthorn top` and the operator's pages. Plain data. */
export interface Overview extends OutboundStanding {
  version: string
  /** The name of its release tree (`release/`); its version if it runs from a checkout. */
  release: string
  startedAt: number
  now: number
  /** Where it listens: `private http://127.0.0.1:8080`. */
  listeners: { name: string; at: string }[]
  unhealthy: Reason[]
  unready: Reason[]
  /** Whether mails of campaigns may be made now: they wait a little sooner than single mails are refused. */
  hasRoomForCampaigns: boolean
  /** Every count and gauge of the catalogue; none when `metrics.enabled` is off. */
  series: Series[]
  /** What came in the last hour and in the last day, or since a later start. */
  rates: Rates | null
}

export interface Rates {
  hour: MailFlow
  day: MailFlow
}

export interface MailFlow {
  /** How long the counts took: less than the hour or the day soon after a start. */
  ms: number
  accepted: number
  delivered: number
  deferred: number
  bounced: number
  /** Disk space used up meanwhile. */
  diskBytes: number
}

/** Why the appliance is not well, or takes no mail. */
export interface Reason {
  what:
    | 'starting'
    | 'held'
    | 'stopping'
    | 'draining'
    | 'thread'
    | 'database'
    | 'disk'
    | 'room'
    | 'queue'
  /** One sentence for the operator. */
  says: string
}
