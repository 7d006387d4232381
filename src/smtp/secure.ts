import { X509Certificate } from 'node:crypto'
import { isIP, type Socket } from 'node:net'
import {
  connect,
  createSecureContext,
  type DetailedPeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'

export interface TlsOptions {
  /** `off`: never; `opportunistic`: when offered; `require`: or no session at all. */
  mode: 'off' | 'opportunistic' | 'require'
  /** The certificate must be valid for `servername` and issued by an authority that we trust. */
  verify?: boolean
  /**
   * Judges the certificate instead of the authorities (DANE), and returns what is wrong with it. The chain has the
   * server's own certificate first, then its issuers as far as the server sent them.
   */
  judge?: (chain: readonly X509Certificate[]) => CertificateFault | undefined
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string | Buffer
}

/** What is wrong with a certificate: in words, and by OpenSSL's name for it. */
export interface CertificateFault {
  why: string
  code: string
}

/** What is known about a session's encryption. */
export interface TlsSession {
  version: string
  cipher: string
  /** The certificate is good for the name; true or false whether or not `verify` asked for it. */
  authorized: boolean
  authorizationError?: string
  /** OpenSSL's name for what is wrong. */
  authorizationCode?: string
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

/**
 * The result of a handshake: version, cipher, and whether the certificate is trusted, by `options.judge` where there
 * is one, else by Node.
 */
export function describeTls(socket: TLSSocket, options: TlsOptions): TlsSession {
  const session: TlsSession = {
    version: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher().name,
    authorized: socket.authorized,
  }
  if (options.judge !== undefined) {
    const wrong = options.judge(peerChain(socket))
    session.authorized = wrong === undefined
    if (wrong === undefined) return session
    return { ...session, authorizationError: wrong.why, authorizationCode: wrong.code }
  }
  // Typed as an Error; Node sets the code, a string.
  const problem: unknown = socket.authorizationError
  if (!problem) return session
  const code = String(problem)
  return { ...session, authorizationError: code, authorizationCode: code }
}

// Nobody has longer chains.
const maxChain = 10

function peerChain(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = []
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  // A self-signed certificate is its own issuer; without any certificate the object is empty.
  for (; next?.raw !== undefined && chain.length < maxChain; next = next.issuerCertificate) {
    chain.push(new X509Certificate(next.raw))
    if (next.issuerCertificate === next) break
  }
  return chain
}

let usual: SecureContext | undefined
// RFC 8461 §4.1 and RFC 8996: no older version, whatever options Node was started with.
const modern = { minVersion: 'TLSv1.2' } as const
let special: { ca: string; context: SecureContext } | undefined

/** Building a context takes longer than many handshakes; one serves all connections. */
function contextFor(ca: string | Buffer | undefined): SecureContext {
  if (ca === undefined) {
    usual ??= createSecureContext(modern)
    return usual
  }
  const pem = ca.toString()
  if (special?.ca !== pem)
    special = { ca: pem, context: createSecureContext({ ...modern, ca: pem }) }
  return special.context
}
