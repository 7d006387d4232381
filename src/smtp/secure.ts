import { isIP, type Socket } from 'node:net'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'

export interface TlsOptions {
  /** `off`: never; `opportunistic`: when offered; `require`: or no session at all. */
  mode: 'off' | 'opportunistic' | 'require'
  /** The certificate must be valid for `servername` and issued by one whom we trust. */
  verify?: boolean
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string | Buffer
}

/** What is known about a session's encryption. */
export interface TlsSession {
  version: string
  cipher: string
  /** The certificate is good for the name; true or false whether or not `verify` asked for it. */
  authorized: boolean
  authorizationError?: string
}

/** Starts a TLS handshake on a connected socket. */
export function startTls(
  plain: Socket,
  options: { servername?: string; host: string; tls: TlsOptions },
): TLSSocket {
  const name = (options.servername ?? options.host).replace(/\.$/, '')
  return connect({
    socket: plain,
    secureContext: contextFor(options.tls.ca),
    // RFC 6066 §3: no IP addresses in SNI. Without SNI, Node checks the name against `host`.
    ...(isIP(name) === 0 ? { servername: name } : { host: name }),
    // Checked by `describeTls` instead, so that a refusal can say what was wrong.
    rejectUnauthorized: false,
  })
}

export function describeTls(socket: TLSSocket): TlsSession {
  const session: TlsSession = {
    version: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher().name,
    authorized: socket.authorized,
  }
  // Typed as an Error; Node sets the code, a string.
  const problem: unknown = socket.authorizationError
  if (problem) session.authorizationError = String(problem)
  return session
}

let usual: SecureContext | undefined
let special: { ca: string; context: SecureContext } | undefined

/** Building a context takes longer than many handshakes; one serves all connections. */
function contextFor(ca: string | Buffer | undefined): SecureContext {
  if (ca === undefined) {
    usual ??= createSecureContext()
    return usual
  }
  const pem = ca.toString()
  if (special?.ca !== pem) special = { ca: pem, context: createSecureContext({ ca: pem }) }
  return special.context
}
