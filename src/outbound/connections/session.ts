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
  /** What it was opened to meet; a delivery with other demands may find that it meets those too. */
  demand: TlsDemand
  /** What was tried in vain before it, in lines. */
  before: readonly string[]
  /** Why it is in the clear where TLS is offered. */
  tlsFailed: InTheClear | undefined
  localAddress: string | undefined
  /** The domains that it was counted for, beside the one that it was opened for. */
  countedFor: Set<string>
}

/** Why there is no TLS: in words, and as reports tell it. */
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
  /** It was tried without TLS, or opened so, for this. */
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
  /** Servers of our own: another port, from whichever address. */
  inside?: InsideServer | undefined
  /** Other than the usual ones. */
  deadlines?: Partial<Deadlines> | undefined
  /** Breaks it off. */
  cut?: Cut | undefined
  /** Told each address before it is connected to, and that of an idle session that is taken. */
  goesTo?: ((address: string) => void) | undefined
  /** Told what came of each connection; not of an idle session that is taken. */
  tried?: ((tried: TriedHost) => void) | undefined
}

/** The last host's failure, and what was demanded of it. */
export interface NotAcquired {
  failure: ConnectFailure
  remote: string
  demand: TlsDemand
  /** Those before it, a line each. */
  before: readonly string[]
}
