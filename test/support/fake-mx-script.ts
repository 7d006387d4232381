/** The types of the fake MX: what it is told to do, and what it reports. */

export interface ReceivedMessage {
  from: string
  to: string[]
  /** The exact bytes, dots unstuffed, with the CRLF before the final dot. */
  raw: Buffer
  tls: boolean
  remoteAddress: string
  remotePort: number
  /** The parameters of MAIL, e.g. `SIZE=42 BODY=8BITMIME`. */
  parameters: string
}

export interface MxSession {
  remoteAddress: string
  remotePort: number
  /** Command lines as they came, without CRLF; AUTH's answers included. */
  commands: string[]
  tls: boolean
  /** The server name that the client asked for in its TLS handshake. */
  servername?: string
  closed: boolean
}

/**
 * What to do at a point of a session. A string is a reply, CRLF added; `drop` closes, `rst`
 * resets, `hang` never answers.
 */
export type Act =
  | string
  | { reply: string; delayMs: number }
  /** Exactly these bytes. */
  | { raw: string | Buffer }
  /** These bytes, then hang up. */
  | { last: string }
  /** One byte at a time; with `endless` it starts again for ever. */
  | { drip: string; everyMs: number; endless?: boolean }
  /** The same bytes over and over, as fast as they are taken. */
  | { flood: string }

/** Always the same act; or a list that is used in turn over all sessions, whose last act stays; or a function. */
export type Script = Act | readonly Act[] | ((argument: string, session: MxSession) => Act)

export interface MxScript {
  banner?: Script
  /** Lines of the EHLO reply after the first, e.g. `PIPELINING`; `STARTTLS` is added with `tls`. */
  capabilities?: readonly string[]
  /** Replaces the reply made from `capabilities`. */
  ehlo?: Script
  helo?: Script
  /** A reply beginning with 220 is followed by the handshake. */
  startTls?: Script
  /** It agrees to STARTTLS, but no handshake follows. */
  handshake?: 'hang'
  auth?: Script
  mail?: Script
  rcpt?: Script
  data?: Script
  /** An act while the message arrives, once this many bytes of it are there. */
  midData?: { afterBytes: number; act: Act }
  /** The reply to the message. Asked with its text. */
  dot?: Script
  rset?: Script
  quit?: Script
  /** Its end of a connection stays open after the client's, until the test's end. */
  lingers?: boolean
  tls?: {
    cert: string
    key: string
    maxVersion?: 'TLSv1.2'
    /** The client must show a certificate, which ours never does. */
    wantsCertificate?: boolean
  }
  /** What happens after the TLS handshake, before any command. */
  secured?: 'drop'
  /** TLS from the first byte. */
  implicitTls?: boolean
  /** Where to listen; 127.0.0.1 if not given. */
  host?: string
  /** The port to listen on; any free one if not given. */
  port?: number
  /** Never reads what the client sends after DATA. */
  deafToData?: boolean
  /** Reads no faster than this after DATA. */
  slowBytesPerSecond?: number
  /** Told of every chunk as it comes from the network (decrypted). */
  onData?: (chunk: Buffer) => void
}

/** The text of an act, as far as it is a reply. */
export function replyOf(act: Act): string {
  if (typeof act === 'string') return act
  if ('reply' in act) return act.reply
  if ('raw' in act) return act.raw.toString()
  if ('last' in act) return act.last
  return 'drip' in act ? act.drip : ''
}
