/**
 * SMTP as a client speaks it: one session with one server, from the TCP connection to QUIT. It knows no queue, no DNS
 * and no database; what a server does is always a value, never an exception. What must hold: every wait ends by an
 * absolute deadline, everything that a server sends is bounded, a session that misbehaved is never used again, and no
 * byte of an address or a message can become a command.
 */

export type { Credentials } from './authenticate.js'
export type { Capabilities } from './capabilities.js'
export {
  type ConnectFailure,
  type ConnectResult,
  connectSmtp,
  notOffered,
  type SmtpConnectOptions,
} from './connect.js'
export type { SmtpConnection } from './connection.js'
export { breakOff, type Cut, makeCut } from './cut.js'
export type { DeliveryStatusOptions, Envelope } from './envelope.js'
export { type Deadlines, defaultDeadlines, defaultLimits, type Limits } from './limits.js'
export {
  finalDot,
  type MessageToSend,
  type StreamedMessage,
  type WrittenMessage,
} from './message.js'
export type { Reply } from './reply.js'
export type { Loss, MessageVerdict, Phase, SendResult } from './result.js'
export type { CertificateFault, TlsOptions, TlsSession } from './secure.js'
