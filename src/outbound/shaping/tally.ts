/** How attempts at a site ended, from one source address, since the count was last taken. */
export interface SiteTally {
  /** Attempts that its servers answered; `parking.ts` counts those without a connection. */
  tried: number
  delivered: number
  /** Attempts that were put off with words about us and not about a recipient. */
  deferred: number
  /** Attempts that were refused or put off as unwanted. */
  blocked: number
  /** Attempts of campaign mail that began. */
  campaigns: number
  /** How long slots were taken, added up (ms): divided by `tried`, how long an attempt takes there. */
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

/** How much slower one thread may send campaign mail to a site, or that the mail waits. */
export interface SiteBrake {
  /** How many of 100 usual mails may leave; 0: campaign mail waits. */
  readonly percent: number
  /** Campaign mails a minute of this thread; not used where campaign mail waits. */
  readonly perMinute: number
  readonly until: number
  /** A sentence without a full stop. */
  readonly why: string
}
