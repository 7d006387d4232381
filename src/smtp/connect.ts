import { isIP, connect as tcpConnect } from 'node:net'
import { TLSSocket } from 'node:tls'
import { authenticate, type Credentials } from './authenticate.js'
import { type Capabilities, noCapabilities, parseCapabilities } from './capabilities.js'
import { openConnection, type SmtpConnection } from './connection.js'
import type { Cut } from './cut.js'
import { type Deadlines, defaultDeadlines, defaultLimits, type Limits } from './limits.js'
import { type RawReply, toReply } from './reply.js'
import type { Loss, OpeningFailure, Phase } from './result.js'
import { describeTls, startTls, type TlsOptions, type TlsSession } from './secure.js'
import { breakOn, isLoss, Wire } from './wire.js'

export interface SmtpConnectOptions {
  /** An IP address; the resolver looks names up. */
  host: string
  port: number
  /** The MX's name, for SNI and for the certificate's check. */
  servername?: string
  /** The address to connect from. */
  localAddress?: string
  /** What we call ourselves in EHLO. */
  heloName: string
  tls: TlsOptions
  /** TLS from the first byte (port 465) instead of STARTTLS. */
  implicitTls?: boolean
  /** For a smart host. */
  auth?: Credentials
  /** False: one command at a time even where PIPELINING is offered. */
  pipelining?: boolean
  deadlines?: Partial<Deadlines>
  limits?: Partial<Limits>
  /** Gives up while connecting; a ready connection no longer heeds it. */
  signal?: AbortSignal
  /** Gives up too; the reason is told, as for a deadline that has passed. */
  cut?: Cut | undefined
}

export type ConnectResult =
  | { kind: 'ready'; connection: SmtpConnection; localAddress?: string | undefined }
  | ConnectFailure

export type ConnectFailure = OpeningFailure & {
  kind: 'failed'
  transcript: string
  /** The local address of the connection; undefined when there was none. */
  localAddress?: string | undefined
}

/**
 * Opens a session up to the point where it can carry messages: TCP, banner, EHLO, STARTTLS, AUTH.
 * Throws only for options that are wrong in themselves.
 */
export async function connectSmtp(options: SmtpConnectOptions): Promise<ConnectResult> {
  if (isIP(options.host) === 0) throw new Error(`Not an IP address: ${options.host}`)
  if (!/^[\w.:[\]-]+$/.test(options.heloName)) {
    throw new Error(`Not a name for EHLO: ${JSON.stringify(options.heloName)}`)
  }
  const deadlines = { ...defaultDeadlines, ...options.deadlines }
  const limits = { ...defaultLimits, ...options.limits }
  const wire = new Wire((take) => dial(options, take), limits)
  const giveUp = () => wire.break({ cause: 'given up by us', code: 'ABORT_ERR' })
  if (options.signal?.aborted === true) giveUp()
  options.signal?.addEventListener('abort', giveUp, { once: true })
  breakOn(options.cut, wire)
  let ready = false
  try {
    const session = await openSession(wire, options, deadlines)
    const { localAddress } = wire.socket
    if ('cause' in session) {
      wire.break({ cause: session.cause })
      return { kind: 'failed', ...session, transcript: wire.transcript.toString(), localAddress }
    }
    ready = true
    wire.transcript.endOpening()
    if (options.pipelining === false) session.capabilities.pipelining = false
    return {
      kind: 'ready',
      localAddress,
      connection: openConnection(wire, session, deadlines, limits.minBytesPerSecond),
    }
  } finally {
    options.signal?.removeEventListener('abort', giveUp)
    if (options.cut !== undefined) options.cut.onCut = undefined
    if (!ready) wire.break({ cause: 'never opened' })
  }
}

interface Session {
  capabilities: Capabilities
  tls?: TlsSession
}

async function openSession(
  wire: Wire,
  options: SmtpConnectOptions,
  deadlines: Deadlines,
): Promise<Session | OpeningFailure> {
  const unopened = await wire.opened('connect', deadlines.connectMs)
  if (unopened !== undefined) return lost('connect', unopened)
  let tls: TlsSession | undefined
  if (options.implicitTls === true) {
    const secured = await handshake(wire, options, deadlines)
    if ('cause' in secured) return secured
    tls = secured
  }

  wire.expect(1)
  const banner = await wire.reply(deadlines.bannerMs, 'the banner')
  if (isLoss(banner)) return lost('banner', banner)
  if (banner.code !== 220) return refused('banner', banner)

  let capabilities = await introduce(wire, options.heloName, deadlines)
  if ('cause' in capabilities) return capabilities

  if (tls === undefined && options.tls.mode !== 'off') {
    const secured = await negotiateTls(wire, options, deadlines, capabilities)
    if (secured !== undefined && 'cause' in secured) {
      return { ...secured, ...(capabilities.name && { helo: capabilities.name }) }
    }
    if (secured !== undefined) {
      tls = secured
      const { name: helo } = capabilities
      // RFC 3207 §4.2: what the server said before is forgotten.
      capabilities = await introduce(wire, options.heloName, deadlines)
      if ('cause' in capabilities) {
        // RFC 8446 §4.4.4: our side of the handshake is over before the server has judged it, and its alert comes later.
        const isBroken = capabilities.reply === undefined
        return isBroken ? { ...capabilities, tlsFailed: true, ...(helo && { helo }) } : capabilities
      }
    }
  }

  if (options.auth !== undefined) {
    const failure = await authenticate(wire, options.auth, capabilities, tls, deadlines.authMs)
    if (failure !== undefined) return failure
  }
  return tls === undefined ? { capabilities } : { capabilities, tls }
}

// Replies of all connections are read into the same memory, and each is used up before the next one comes. Otherwise
// Node allocates 64 KB for every reply, and gives back what is left.
const replyMemory = Buffer.allocUnsafeSlow(16 * 1024)

function dial({ host, port, localAddress }: SmtpConnectOptions, take: (chunk: Buffer) => void) {
  const source = localAddress === undefined ? {} : { localAddress }
  const callback = (bytes: number) => {
    take(replyMemory.subarray(0, bytes))
    return true
  }
  const onread = { buffer: replyMemory, callback }
  return tcpConnect({ host, port, noDelay: true, onread, ...source })
}

async function introduce(
  wire: Wire,
  name: string,
  deadlines: Deadlines,
): Promise<Capabilities | OpeningFailure> {
  wire.command(`EHLO ${name}\r\n`)
  const ehlo = await wire.reply(deadlines.ehloMs, 'the reply to EHLO')
  if (isLoss(ehlo)) return lost('ehlo', ehlo)
  if (ehlo.code === 250) return parseCapabilities(ehlo)
  if (ehlo.code < 500) return refused('ehlo', ehlo)
  // RFC 5321 §3.2: a server may know only HELO.
  wire.command(`HELO ${name}\r\n`)
  const helo = await wire.reply(deadlines.ehloMs, 'the reply to HELO')
  if (isLoss(helo)) return lost('ehlo', helo)
  return helo.code === 250 ? { ...noCapabilities } : refused('ehlo', helo)
}

/** The code where a session needs TLS and the server does not offer it. */
export const notOffered = 'STARTTLS_NOT_OFFERED'

/** STARTTLS, if the options want it; undefined to go on in the clear. */
async function negotiateTls(
  wire: Wire,
  options: SmtpConnectOptions,
  deadlines: Deadlines,
  offers: Capabilities,
): Promise<TlsSession | OpeningFailure | undefined> {
  const required = options.tls.mode === 'require'
  if (!offers.startTls) {
    if (!required) return undefined
    const cause = 'the server does not offer STARTTLS'
    return { phase: 'starttls', cause, code: notOffered, transient: true, tlsFailed: true }
  }
  wire.command('STARTTLS\r\n')
  const reply = await wire.reply(deadlines.startTlsMs, 'the reply to STARTTLS')
  if (isLoss(reply)) return { ...lost('starttls', reply), tlsFailed: true }
  if (reply.code === 421) return refused('starttls', reply)
  if (reply.code !== 220) {
    if (!required && reply.code >= 400 && wire.loss === undefined) return undefined
    return { ...refused('starttls', reply), transient: true, tlsFailed: true }
  }
  // CVE-2011-0411: bytes after the 220 came in the clear and would be taken for encrypted ones. The wire breaks on
  // them, as on all bytes that are not due.
  if (wire.loss !== undefined) return { ...lost('starttls', wire.loss), tlsFailed: true }
  return await handshake(wire, options, deadlines)
}

async function handshake(
  wire: Wire,
  options: SmtpConnectOptions,
  deadlines: Deadlines,
): Promise<TlsSession | OpeningFailure> {
  wire.upgrade((plain) => startTls(plain, options))
  const failed = await wire.opened('secureConnect', deadlines.startTlsMs)
  if (failed !== undefined) return { ...lost('starttls', failed), tlsFailed: true }
  const { socket } = wire
  if (!(socket instanceof TLSSocket)) throw new Error('The handshake left no TLS socket')
  const tls = describeTls(socket, options.tls)
  wire.transcript.note(`${tls.version} ${tls.cipher}${tls.authorized ? ', verified' : ''}`)
  if (options.tls.verify !== true || tls.authorized) return tls
  const cause = `certificate not accepted: ${tls.authorizationError ?? 'unknown reason'}`
  const { authorizationCode: code = 'UNSPECIFIED' } = tls
  return { phase: 'starttls', cause, code, transient: true, tlsFailed: true }
}

function lost(phase: Phase, loss: Loss): OpeningFailure {
  return { phase, ...loss, transient: true }
}

/** A reply other than the one expected. Only 5yz is final; a reply that makes no sense may be better later. */
function refused(phase: Phase, raw: RawReply): OpeningFailure {
  const reply = toReply(raw)
  const words = `${reply.code} ${reply.text}`
  const cause = raw.code < 400 ? `unexpected reply ${words}` : words
  return { phase, cause, reply, transient: raw.code < 500 }
}
