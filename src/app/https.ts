import type { Certificates } from '../certificates/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { HttpServerOptions } from '../http/index.js'
import { makePeerLookup, makePeerTable, openTlsListener } from '../https/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { certificatesOf } from './certificates.js'
import { httpsSocket } from './files.js'
import type { ThreadWork } from './thread.js'
import type { HttpsListener, HttpsPeers, ThreadData, ThreadPorts } from './thread-data.js'

/*
 * The HTTP listeners' TLS, of both sides: the thread in which it ends, and the servers behind it.
 */

// At once. Each takes 6 KB before it speaks TLS and 43 KB then, 59 KB in its handshake (22 Nov 2026).
const maxConnections = { public: 4_000, private: 2_000 } as const

/**
 * Shared memory between the TLS thread and the listener behind it, by which that one knows the
 * client's address.
 */
export function makeHttpsPeers({ http }: Config): HttpsPeers {
  const peers: Partial<Record<HttpsListener, SharedArrayBuffer>> = {}
  for (const listener of ['public', 'private'] as const) {
    if (http[listener].tls.enabled) peers[listener] = makePeerTable(maxConnections[listener])
  }
  return peers
}

/** How the public server serves what comes over TLS; undefined where it has none. */
export function publicOverTls(
  { config, dataDir }: { config: Config; dataDir: string },
  { public: peers }: HttpsPeers,
  certificates: Pick<Certificates, 'isFor'>,
): HttpServerOptions<never>['overTls'] {
  if (peers === undefined) return undefined
  const { url, tls } = config.http.public
  const { hostname: host, port } = new URL(url)
  const hsts: Record<string, string> =
    tls.hsts === 0 ? {} : { 'Strict-Transport-Security': `max-age=${Math.floor(tls.hsts / 1_000)}` }
  return {
    socket: httpsSocket(dataDir, 'public'),
    addressOf: makePeerLookup(peers),
    only: false,
    // Never to a name that nobody could be shown a certificate for.
    originOf: (name) =>
      certificates.isFor(name) ? `https://${name}${port === '' ? '' : `:${port}`}` : undefined,
    // The names of accounts are not ours to promise anything about.
    headersOf: (name) => (name === host ? hsts : {}),
  }
}

/** How the private server serves what comes over TLS, which is then the only way. */
export function privateOverTls(
  dataDir: string,
  { private: peers }: HttpsPeers,
): HttpServerOptions<never>['overTls'] {
  if (peers === undefined) return undefined
  const socket = httpsSocket(dataDir, 'private')
  return { socket, addressOf: makePeerLookup(peers), only: true }
}

/** What the thread does: ends TLS on each listener that has some. */
export async function openHttps({
  data,
  clock,
  log,
  meter,
}: {
  data: ThreadData
  clock: Clock
  log: Log
  meter: Meter
}): Promise<ThreadWork> {
  const { config, dataDir, httpsPeers = {}, listenPorts = {} } = data
  const { http } = config
  const open = async (name: HttpsListener, { host, port }: { host: string; port: number }) => {
    const peers = httpsPeers[name]
    if (peers === undefined) return []
    const certificates = certificatesOf(name, { config, dataDir, log })
    const listener = await openTlsListener({
      clock,
      log,
      name,
      host,
      port: listenPorts[name] ?? port,
      peers,
      upstream: httpsSocket(dataDir, name),
      certificateFor: (serverName) => certificates.forName(serverName),
      maxConnections: maxConnections[name],
      onRefused: (cause) => meter.count('posthorn_https_refused_total', { listener: name, cause }),
    })
    return [{ name, certificates, listener }]
  }
  const opened = await open('public', { host: http.public.host, port: http.public.tls.port })
  try {
    opened.push(...(await open('private', http.private)))
  } catch (error) {
    for (const { listener } of opened) await listener.close()
    throw error
  }
  const ports: ThreadPorts = Object.fromEntries(
    opened.map(({ name, listener }) => [name, listener.port]),
  )
  return {
    ports,
    reload() {
      for (const { certificates, listener } of opened) {
        certificates.reload()
        listener.renew()
      }
    },
    async stop() {
      await Promise.all(opened.map(({ listener }) => listener.close()))
    },
  }
}
