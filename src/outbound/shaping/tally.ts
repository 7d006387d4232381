/** How attempts at a site ended, from one source address, since the count was last taken. */
export interface SiteTally {
  /** With an answer of its servers; those that gave no connection are `parking.ts`'s. */
  tried: number
  delivered: number
  /** Put off with words that are about us, not about a recipient. */
  deferred: number
  /** Refused or put off as unwanted. */
  blocked: number
  /** Attempts of campaigns that began. */
  campaigns: number
  /** How long slots were taken, added up (ms): by `tried` it tells how long an attempt takes there. */
  busyMs: number
}

/** Nothing counted yet. */
export const noTally = (): SiteTally => ({
  tried: 0,
  delivered: 0,
  deferred: 0,
  blocked: 0,
  campaigns: 0,
  busyMs: 0,
})

/** Adds one count to another. */
export function addTally(sum: SiteTally, added: SiteTally): void {
  sum.tried += added.tried
  sum.delivered += added.delivered
  sum.deferred += added.deferred
  sum.blocked += added.blocked
  sum.campaigns += added.campaigns
  sum.busyMs += added.busyMs
}

/** Campaign mail goes slower to a site, or waits: what one thread has to keep to. */
export interface SiteBrake {
  /** Of 100 that usually go; 0: it waits. */
  readonly percent: number
  /** Campaign mails a minute of this thread; not asked for where it waits. */
  readonly perMinute: number
  readonly until: number
  /** A sentence without a full stop. */
  readonly why: string
}
