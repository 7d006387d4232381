/** How long each phase of a session may take, in milliseconds of wall-clock time. */
export interface Deadlines {
  connectMs: number
  bannerMs: number
  ehloMs: number
  /** The reply to STARTTLS, and then again the handshake. */
  startTlsMs: number
  authMs: number
  mailMs: number
  rcptMs: number
  dataMs: number
  /** One block of the message (64 KiB) into the network. */
  blockMs: number
  dotMs: number
  /** The reply to the lone dot of a message without recipient, whose outcome is known already. */
  emptyMs: number
  resetMs: number
  /** How long a socket lingers after QUIT; nobody waits for it. */
  quitMs: number
}

/**
 * RFC 5321 §4.5.3.2: minimum timeouts. Ours are absolute: a server that sends a byte now and then gains no time. The
 * final dot has ten minutes because giving up sooner makes duplicates.
 */
export const defaultDeadlines: Deadlines = {
  connectMs: 30_000,
  bannerMs: 300_000,
  ehloMs: 300_000,
  startTlsMs: 60_000,
  authMs: 60_000,
  mailMs: 300_000,
  rcptMs: 300_000,
  dataMs: 120_000,
  blockMs: 180_000,
  dotMs: 600_000,
  emptyMs: 30_000,
  resetMs: 10_000,
  quitMs: 10_000,
}

/** What a server may make us hold. */
export interface Limits {
  lineBytes: number
  replyLines: number
  replyBytes: number
  /** The lowest speed at which a message may leave once `blockMs` has passed. */
  minBytesPerSecond: number
  transcriptBytes: number
}

export const defaultLimits: Limits = {
  lineBytes: 2_048,
  replyLines: 64,
  replyBytes: 16_384,
  minBytesPerSecond: 500,
  transcriptBytes: 8_192,
}
