import type { Reply } from './reply.js'

/** Where in a session something happened. `idle`: between messages. */
export type Phase =
  | 'connect'
  | 'banner'
  | 'ehlo'
  | 'starttls'
  | 'auth'
  | 'idle'
  | 'rset'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'dot'

/** Why a session is over. */
export interface Loss {
  cause: string
  /** The system's or OpenSSL's name for it, e.g. `ECONNRESET`, `CERT_HAS_EXPIRED`. */
  code?: string
  /** The 421 with which the server left, or the reply that was not due. */
  reply?: Reply
}

/** Why a session could not be opened. */
export interface OpeningFailure extends Loss {
  phase: Phase
  /** False when this server has refused for good (5yz), or when our demand can never be met. */
  transient: boolean
  /** It failed for want of (good enough) TLS: in the clear it might succeed. */
  tlsFailed?: true
  /** What the server called itself, where TLS failed after its EHLO. */
  helo?: string
}

/** The server's verdict on one message. */
export interface MessageVerdict {
  reply: Reply
  phase: Phase
  /** Whether the connection may carry another message. */
  reusable: boolean
  /** We refused it ourselves, without asking the server: `reply` is our own text. */
  local?: true
}

/** What happened to one message. */
export type SendResult =
  | ({ kind: 'accepted' } & MessageVerdict)
  | ({ kind: 'refused' } & MessageVerdict) // RFC 5321 §4.2.1: 5yz is permanent
  | ({ kind: 'deferred' } & MessageVerdict)
  | ({
      kind: 'lost'
      phase: Phase
      /** True when the final dot had been sent: the server may have the message. */
      ambiguous: boolean
      /** True when MAIL had been sent for this message; if not, the lost session did not touch it. */
      offered: boolean
    } & Loss)
