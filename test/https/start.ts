import { once } from 'node:events'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { type HttpServer, openHttpServer } from '../../src/http/index.js'
import {
  makePeerLookup,
  makePeerTable,
  openTlsListener,
  type TlsListener,
} from '../../src/https/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Certificate } from '../../src/smtpd/index.js'
import { RawConnection } from '../support/raw-http.js'
import { makeTempDir } from '../support/store.js'
import type { TestCertificate } from '../support/tls.js'

export interface Secured {
  listener: TlsListener
  server: HttpServer<never>
  refused: string[]
}

type Owner = Parameters<typeof makeTempDir>[0]

/** A server with pages, and the listener that ends TLS before it. */
export async function startSecured(
  t: Owner,
  certificateFor: (name: string | undefined) => Certificate | undefined,
  addPages: (pages: HttpServer<never>['pages']) => void,
  { clock = systemClock, maxConnections = 100 }: { clock?: Clock; maxConnections?: number } = {},
): Promise<Secured> {
  const peers = makePeerTable(maxConnections)
  const lookUp = makePeerLookup(peers)
  const socket = join(makeTempDir(t), 'tls.sock')
  const server = await openHttpServer<never>({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock: systemClock,
    overTls: {
      socket,
      clientOf(token) {
        const address = lookUp(token)
        return address === undefined ? undefined : { address, tls: true }
      },
      only: false,
    },
  })
  addPages(server.pages)
  await server.listen()
  t.teardown(() => server.close(0))
  const refused: string[] = []
  const listener = await openTlsListener({
    clock,
    log: silentLog,
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    upstream: socket,
    peers,
    certificateFor,
    maxConnections,
    onRefused: (cause) => refused.push(cause),
  })
  t.teardown(() => listener.close())
  return { listener, server, refused }
}

/** As a TLS server takes it; the same object each time. */
export const pairOf = ({ cert, key }: TestCertificate): Certificate => ({
  cert: Buffer.from(cert),
  key: Buffer.from(key),
})

/** A connection over TLS, and the names that the certificate there is for. */
export async function openOverTls(
  port: number,
  more: ConnectionOptions & { localAddress?: string } = {},
): Promise<{ raw: RawConnection; socket: TLSSocket; names: string }> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...more })
  const raw = new RawConnection(socket)
  await once(socket, 'secureConnect')
  return { raw, socket, names: socket.getPeerCertificate().subjectaltname ?? '' }
}

export const get = (path: string, host = 'localhost', more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
