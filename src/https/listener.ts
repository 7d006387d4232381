import { constants } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer } from 'node:tls'
import { messageOf } from '../errors/index.js'
import type { Certificate } from '../smtpd/index.js'
import { type FrontOptions, makeFrontDoor, type OpenFront, openPort } from './front-door.js'
import { isHandshake, refusePlain } from './plain.js'

export interface TlsListenerOptions extends FrontOptions {
  /**
   * The certificate for clients that give this name, or none; the same object as long as the
   * certificate is the same. Undefined: they are refused, as there is no certificate at all.
   */
  certificateFor(serverName: string | undefined): Certificate | undefined
}

export interface TlsListener extends OpenFront {
  /** New connections get the present certificates; open ones go on unchanged. */
  renew(): void
}

// The share of all connections that may be in their handshake, which takes 59 KB (22 Nov 2026).
const handshakesShare = 1 / 4
// Counted from the acceptance of the connection.
const handshakeMs = 10_000
// https://wiki.mozilla.org/Security/Server_Side_TLS, 'intermediate', without DHE, which costs much and which no
// client with TLS 1.2 needs.
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
  // The handshake costs most; a client gets one a connection.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const

/** Ends TLS, and hands the bytes in it to the server behind. Throws an `OperatorError` if it can't listen. */
export async function openTlsListener(options: TlsListenerOptions): Promise<TlsListener> {
  const { clock, log, name, certificateFor, maxConnections, onRefused = () => {} } = options
  const { admit, handOver, ...front } = makeFrontDoor(options)
  const { tls, renew } = makeTlsServer(certificateFor)
  tls.on('tlsClientError', (error) => {
    log.debug({ listener: name, cause: messageOf(error) }, 'A TLS handshake failed')
    onRefused('handshake')
  })
  const handshakes = makeHandshakes(Math.floor(maxConnections * handshakesShare), () =>
    onRefused('crowded'),
  )
  tls.on('secureConnection', (client) => {
    const raw = handshakes.end(nameOf(client))
    // The handshake was given up meanwhile.
    if (raw === undefined) return void client.destroy()
    handOver(client, raw)
  })

  const server = createServer({ noDelay: true }, (incoming) => {
    // The address as the kernel knows it. Read now, as a closed socket no longer tells it.
    const client = nameOf(incoming)
    admit(incoming, (raw) => {
      const cancel = clock.after(handshakeMs, () => {
        onRefused('silent')
        raw.destroy()
      })
      const end = () => {
        cancel()
        handshakes.forget(client)
      }
      raw.once('close', end)
      // Until its first byte a client costs no memory of a TLS session.
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
  })
  const port = await openPort(server, options)
  log.info({ host: options.host, port, listener: name }, 'Listens for TLS')
  return {
    port,
    get connections() {
      return front.connections()
    },
    renew,
    close: () => front.close(server),
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
      // An honest client needs only a few round trips, so the oldest handshake is given up.
      if (underWay.size <= most || oldest === undefined) return
      onCrowded()
      oldest.raw.destroy()
      oldest.end()
    },
    /** Ends the handshake; returns the socket below. */
    end(client: string): Socket | undefined {
      const ended = underWay.get(client)
      ended?.end()
      return ended?.raw
    },
    forget: (client: string) => underWay.delete(client),
  }
}

const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
