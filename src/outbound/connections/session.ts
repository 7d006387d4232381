import type { MxHost } from '../../dns/index.js'
import type { ConnectFailure, ConnectResult, Cut, Deadlines } from '../../smtp/index.js'
import type { EgressSource, InsideServer } from '../routing/index.js'
import type { TlsDemand, TlsFailure } from '../tls-policy/index.js'
import type { PooledSession } from './session-pool.js'

/** A session with one of a site's hosts, in use by one delivery at a time. */
export interface SmtpSession extends PooledSession {
  /** `mx.example.com [192.0.2.1]`, for the record. */
  remote: string
  exchange: string
  address: string
  /** Same site, same source, same hosts. */
  readonly key: string
  /** The demand that it was opened to meet; it may meet the demand of another delivery too. */
  demand: TlsDemand
  /** What was tried in vain before it, a line each. */
  before: readonly string[]
  /** Why it is in the clear where TLS is offered. */
  tlsFailed: InTheClear | undefined
  localAddress: string | undefined
  /** The domains that it was counted for, beside the one that it was opened for. */
  countedFor: Set<string>
}

/** Why there is no TLS: in words, and in the terms of the reports. */
export interface InTheClear {
  why: string
  failure: TlsFailure
}

/** What came of one connection to one of the hosts. */
export interface TriedHost {
  exchange: string
  address: string
  demand: TlsDemand
  result: ConnectResult
  /** Why it was tried, or opened, without TLS. */
  clear?: InTheClear | undefined
}

/** What a session is wanted for. */
export interface SessionTarget {
  source: EgressSource
  hosts: readonly MxHost[]
  demandOf(exchange: string): TlsDemand | undefined
  /** The site whose limits these are. */
  site: string
  maxConnections: number
  messagesPerConnection: number
  /** Servers of our own have another port, and may be reached from any address. */
  inside?: InsideServer | undefined
  /** Where they differ from the usual ones. */
  deadlines?: Partial<Deadlines> | undefined
  /** Breaks the attempt off. */
  cut?: Cut | undefined
  /** Called with each address before it is connected to, and with that of an idle session that is taken. */
  goesTo?: ((address: string) => void) | undefined
  /** Called with the result of each connection, but not for an idle session that is taken. */
  tried?: ((tried: TriedHost) => void) | undefined
}

/** The last host's failure, and what was demanded of that host. */
export interface NotAcquired {
  failure: ConnectFailure
  remote: string
  demand: TlsDemand
  /** The hosts tried before it, a line each. */
  before: readonly string[]
}
