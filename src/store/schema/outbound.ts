import type { QueueClass } from '../queue-class.js'
import { integer, type RowOf, table, text } from './table.js'

/** How far a source address is in its warm-up; days since the epoch, UTC. */
const sources = table('sources', {
  address: text().primaryKey(),
  first_day: integer(),
  /** The last day with mail; `sent` counts that day's mails. */
  last_day: integer(),
  ramp_day: integer(),
  sent: integer(),
})

/** What a thread has learned about a site, so that a restart does not forget a suspension. */
const siteStates = table(
  'site_states',
  {
    site: text(),
    source: text(),
    thread: integer(),
    /** JSON. */
    learned: text(),
    updated_at: integer(),
  },
  { primaryKey: ['site', 'source', 'thread'] },
)

/** A recipient domain's MTA-STS policy. */
const mtaSts = table(
  'mta_sts',
  {
    domain: text().primaryKey(),
    policy_id: text(),
    mode: text<'enforce' | 'testing' | 'none'>(),
    /** JSON list of patterns. */
    mx: text(),
    max_age_ms: integer(),
    fetched_at: integer(),
    expires_at: integer(),
  },
  { indexes: { mta_sts_expiry: ['expires_at'] } },
)

/** Which way mail goes to a site or (`*`) everywhere, where that is or was not as usual. */
const egress = table(
  'egress',
  {
    scope: text(),
    /** The number of the node whose way out it is; 0: the operator's word for all nodes. */
    node: integer(),
    /** The operator's word; `auto`: the next columns decide. */
    orders: text<'auto' | 'force' | 'forbid'>(),
    way: text<'primary' | 'failover'>(),
    /** What was wrong, in the words of `outbound/egress/breaker.ts`. */
    why: text(),
    cause: text<'unreached' | 'refused'>(),
    since: integer(),
    until: integer(),
    /** When the wait before probes was set: if the clock was ahead, the wait must not last longer for it. */
    at: integer().default(0),
    passed: integer(),
    relapses: integer(),
    /** The account whose mail was refused; null where none was, or where that is not known. */
    account_id: text().orNull(),
  },
  { primaryKey: ['scope', 'node'] },
)

export interface EgressRow extends RowOf<typeof egress> {}

/** Sites that gave no connection since any site last did. */
const egressUnreached = table(
  'egress_unreached',
  {
    /** The number of the node that did not reach it. */
    node: integer(),
    site: text(),
    /** The account whose mail it was. */
    account_id: text(),
    at: integer(),
  },
  { primaryKey: ['node', 'site', 'account_id'], isClustered: true },
)

/** An operator's word on mail to a site or a recipients' domain, which ends by itself. */
const siteOrders = table(
  'site_orders',
  {
    id: integer().numberedKey('rising'),
    /** The mail waits, or leaves from another pool. */
    kind: text<'hold' | 'pool'>(),
    /** A recipients' domain as A-label, a site's key, or a provider of shaping.toml; lower case. */
    site: text(),
    /** The pool; then the account and the class of the mail that is meant, null: all. */
    pool: text().orNull(),
    account_id: text().orNull(),
    class: integer<QueueClass>().orNull(),
    why: text(),
    given_by: text(),
    given_at: integer(),
    until: integer(),
    /** When somebody ended it before its time. */
    ended_at: integer().orNull(),
  },
  {
    indexes: {
      site_orders_open: { on: ['until', 'id'], where: (row) => row('ended_at', 'is', null) },
    },
  },
)

/** A brake on campaign mail to a site from a pool: how much of it may leave, and when more will. */
const siteBrakes = table(
  'site_brakes',
  {
    site: text(),
    /** The name of the pool from which it leaves; empty: all pools. */
    source: text(),
    /** How many of 100 usual campaign mails may leave; 0: they wait. */
    percent: integer<0 | 10 | 25 | 50>(),
    began_at: integer(),
    /** When this step began, and when the next one follows by itself. */
    since: integer(),
    until: integer(),
    /** How often the brake has made mail wait. */
    waits: integer(),
    /** Campaign mails a minute before it began, at the thread that began it. */
    per_minute: integer(),
    step_ms: integer(),
    wait_ms: integer(),
    cause: text<'deferred' | 'blocked' | 'complained'>(),
    /** The counts, as a sentence without a full stop. */
    why: text(),
  },
  { primaryKey: ['site', 'source'], isClustered: true },
)

export interface SiteBrakeRow extends RowOf<typeof siteBrakes> {}

/** How attempts at a site ended, by source and UTC day; complaints have no source. Only for busy sites. */
const siteDays = table(
  'site_days',
  {
    site: text(),
    source: text(),
    day: integer(),
    tried: integer(),
    delivered: integer(),
    deferred: integer(),
    blocked: integer(),
    complained: integer(),
    /** How long attempts took, added up. */
    busy_ms: integer(),
  },
  {
    primaryKey: ['site', 'source', 'day'],
    isClustered: true,
  },
)

export interface SiteDayRow extends RowOf<typeof siteDays> {}

/** Proved complaints by the host that took the mail, until an outbound thread counts them for its site. */
const hostComplaints = table(
  'host_complaints',
  { host: text(), domain: text(), complained: integer() },
  { primaryKey: ['host', 'domain'], isClustered: true },
)

export interface SiteOrderRow extends RowOf<typeof siteOrders> {}

export const outboundTables = [
  sources,
  siteStates,
  mtaSts,
  egress,
  egressUnreached,
  siteOrders,
  siteBrakes,
  siteDays,
  hostComplaints,
] as const
