import { constants } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { type Clock, isRecent } from '../clock/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type Certificate, type ConnectionGate, makeGate } from '../smtpd/index.js'
import { openSeats } from './peers.js'
import { isHandshake, refusePlain } from './plain.js'

export interface TlsListenerOptions {
  clock: Clock
  log: Log
  /** In the log and in messages: `http.public.tls`. */
  name: string
  host: string
  /** 0 takes a free one. */
  port: number
  /** The Unix socket of the server behind, which need not be there yet. */
  upstream: string
  /** Where the server behind looks clients up; it has a row for each that may be connected. */
  peers: SharedArrayBuffer
  /**
   * What clients are offered that give this name, or none; the same object as long as it is the same
   * certificate. Undefined: they are refused, as there is none at all.
   */
  certificateFor(serverName: string | undefined): Certificate | undefined
  /** At once, from the first byte of TCP on. */
  maxConnections: number
  /** Called for clients that did not get as far as to the server behind. */
  onRefused?: (cause: RefusedCause) => void
}

export type RefusedCause = 'crowded' | 'silent' | 'plain' | 'handshake' | 'upstream'

export interface TlsListener {
  readonly port: number
  readonly connections: number
  /** Connections from now on are offered what there is now; those that are open go on as they are. */
  renew(): void
  /** Takes no new connection, and closes those that are open. */
  close(): Promise<void>
}

// Which share of all connections may be in their handshake, which takes 59 KB (22 Nov 2026).
const handshakesShare = 1 / 4
// From accepting a connection on.
const handshakeMs = 10_000
// For reading the rest of what the server behind has sent before it closed.
const lingerMs = 10_000
// The gate's patience where there is room; uWS's own is far shorter, but for handlers that take their time.
const idleMs = 600_000

// https://wiki.mozilla.org/Security/Server_Side_TLS, 'intermediate', without DHE, which costs much and which no
// client needs that knows TLS 1.2.
const terms = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  honorCipherOrder: false,
  // The curve of the first key that a client sends, so that it need not send another.
  ecdhCurve: 'X25519:prime256v1:secp384r1',
  // A handshake is what costs most; a client gets one a connection.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const

/** Ends TLS, and hands the bytes in it to the server behind. Throws an `OperatorError` if it can't listen. */
export async function openTlsListener(options: TlsListenerOptions): Promise<TlsListener> {
  const { clock, log, name, host, certificateFor, maxConnections, onRefused = () => {} } = options
  const gate = makeGate({
    connections: maxConnections,
    // A proxy of the operator's or of a mailbox provider may be most of the clients.
    perAddress: Math.ceil(maxConnections / 2),
    perNetwork: Math.ceil(maxConnections / 2),
    idleMs,
    now: () => clock.now(),
    // A download may take as long as it likes, and a connection may be used again as often.
    limit: () => () => {},
  })
  const { tls, renew } = makeTlsServer(certificateFor)
  tls.on('tlsClientError', (error) => {
    log.debug({ listener: name, cause: messageOf(error) }, 'A TLS handshake failed')
    onRefused('handshake')
  })
  const handshakes = makeHandshakes(Math.floor(maxConnections * handshakesShare), () =>
    onRefused('crowded'),
  )
  const takeSeat = openSeats(options.peers)
  tls.on('secureConnection', (client) => {
    handshakes.end(nameOf(client))
    const seat = takeSeat(client.remoteAddress?.replace(/%.*/, '') ?? '')
    // One row for each that the gate lets in: only who has left already has none.
    if (seat === undefined) return void client.destroy()
    const inner = connect({ path: options.upstream })
    inner.once('error', () => inner.bytesRead === 0 && onRefused('upstream'))
    inner.write(seat.preamble)
    client.once('close', seat.leave)
    join(client, inner, { clock, gate })
  })

  const server = createServer({ noDelay: true }, (raw) => {
    raw.on('error', () => {})
    if (!gate.admit(raw)) {
      onRefused('crowded')
      return void raw.destroy()
    }
    // Taken now: a socket that is closed tells its peer's address no more.
    const client = nameOf(raw)
    const cancel = clock.after(handshakeMs, () => {
      onRefused('silent')
      raw.destroy()
    })
    const end = () => {
      cancel()
      handshakes.forget(client)
    }
    raw.once('close', end)
    // Until then it has cost no memory of a TLS session.
    raw.once('readable', () => {
      const first: Buffer | null = raw.read()
      if (first === null) return
      if (!isHandshake(first)) {
        onRefused('plain')
        return refusePlain(raw, first)
      }
      handshakes.begin(client, raw, end)
      raw.unshift(first)
      tls.emit('connection', raw)
    })
  })
  await listen(server, options)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  log.info({ host, port, listener: name }, 'Listens for TLS')
  return {
    port,
    get connections() {
      return gate.connections
    },
    renew,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      gate.closeAll()
      await closed
    },
  }
}

/** Ends TLS; it never listens itself: it gets connections whose first byte was seen. */
function makeTlsServer(certificateFor: TlsListenerOptions['certificateFor']) {
  const contexts = new WeakMap<Certificate, ReturnType<typeof createSecureContext>>()
  const contextFor = (serverName: string) => {
    const certificate = certificateFor(serverName)
    if (certificate === undefined) return undefined
    const known = contexts.get(certificate)
    const context = known ?? createSecureContext({ ...terms, ...certificate })
    contexts.set(certificate, context)
    return context
  }
  const tls = createTlsServer({
    ...terms,
    ALPNProtocols: ['http/1.1'],
    SNICallback: (serverName, done) => done(null, contextFor(serverName)),
  })
  const renew = () => {
    const { cert, key } = certificateFor(undefined) ?? {}
    tls.setSecureContext({ ...terms, ...(cert && key && { cert, key }) })
  }
  renew()
  return { tls, renew }
}

/** The handshakes under way, by client, the oldest first; each ends when it is secure, in time or with its socket. */
function makeHandshakes(most: number, onCrowded: () => void) {
  const underWay = new Map<string, { raw: Socket; end(): void }>()
  return {
    begin(client: string, raw: Socket, end: () => void) {
      underWay.set(client, { raw, end })
      const [oldest] = underWay.values()
      // A client that means it takes a few round trips, so the oldest is the one to give up.
      if (underWay.size <= most || oldest === undefined) return
      onCrowded()
      oldest.raw.destroy()
      oldest.end()
    },
    end: (client: string) => underWay.get(client)?.end(),
    forget: (client: string) => underWay.delete(client),
  }
}

const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

function listen(
  server: ReturnType<typeof createServer>,
  { name, host, port }: Pick<TlsListenerOptions, 'name' | 'host' | 'port'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const where = `${host}:${port} for ${name}`
      reject(new OperatorError(`Cannot listen on ${where}: ${cause.message}`, { cause }))
    })
    server.listen({ host, port, backlog: 1_024 }, resolve)
  })
}

/** What the one says the other hears, at the pace of who is slower, until one of them ends. */
function join(
  client: TLSSocket,
  inner: Socket,
  { clock, gate }: { clock: Clock; gate: ConnectionGate },
): void {
  const { remoteAddress, remotePort } = client
  let toldAt = Number.NEGATIVE_INFINITY
  const advance = () => {
    const now = clock.now()
    // To tell costs more than a small answer does.
    if (isRecent(toldAt, now, 1_000)) return
    toldAt = now
    gate.advanced({ remoteAddress, remotePort })
  }
  client.on('data', advance).pipe(inner)
  inner.on('data', advance).pipe(client)
  client.on('error', () => inner.destroy())
  client.once('close', () => inner.destroy())
  inner.on('error', () => client.destroy())
  inner.once('close', () => {
    // `pipe` has ended it, or an error has destroyed it; but it may not read what is on its way.
    const cancel = clock.after(lingerMs, () => client.destroy())
    if (client.destroyed) cancel()
    else client.once('close', cancel)
  })
}
