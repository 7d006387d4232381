import type { Certificates } from '../certificates/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { HttpServerOptions } from '../http/index.js'
import {
  makePeerLookup,
  makePeerTable,
  openPlainListener,
  openTlsListener,
} from '../https/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { certificatesOf } from './certificates.js'
import { httpsSocket } from './files.js'
import type { ThreadWork } from './thread.js'
import type { HttpsListener, HttpsPeers, ThreadData, ThreadPorts } from './thread-data.js'

/*
 * What is in front of the HTTP listeners of both sides (the thread in which TLS ends and PROXY headers are taken off),
 * and the servers behind it.
 */

// At once. Each takes 6 KB before it speaks TLS, 43 KB afterwards, and 59 KB in its handshake (22 Nov 2026).
const maxConnections = { public: 4_000, publicPlain: 4_000, private: 2_000 } as const

/** Shared memory between the TLS thread and the listener behind it, which learns the client's address from it. */
export function makeHttpsPeers({ http }: Config): HttpsPeers {
  const isProxied = http.proxyProtocolFrom.length > 0
  const needed: Record<HttpsListener, boolean> = {
    public: http.public.tls.enabled,
    publicPlain: isProxied,
    private: http.private.tls.enabled || isProxied,
  }
  const peers: Partial<Record<HttpsListener, SharedArrayBuffer>> = {}
  for (const listener of ['public', 'publicPlain', 'private'] as const) {
    if (needed[listener]) peers[listener] = makePeerTable(maxConnections[listener])
  }
  return peers
}

/** The client for which a token stands; each token is in only one of the tables. */
function clientsOf(tables: readonly { peers: SharedArrayBuffer | undefined; tls: boolean }[]) {
  const all = tables.flatMap(({ peers, tls }) =>
    peers === undefined ? [] : [{ lookUp: makePeerLookup(peers), tls }],
  )
  return (token: ArrayBuffer) => {
    for (const { lookUp, tls } of all) {
      const address = lookUp(token)
      if (address !== undefined) return { address, tls }
    }
    return undefined
  }
}

/** How the public server serves what comes over TLS; undefined where it has none. */
export function publicOverTls(
  { config, dataDir }: { config: Config; dataDir: string },
  { public: secure, publicPlain: plain }: HttpsPeers,
  certificates: Pick<Certificates, 'isFor'>,
): HttpServerOptions<never>['overTls'] {
  if (secure === undefined && plain === undefined) return undefined
  const { url, tls } = config.http.public
  const byTable = {
    socket: httpsSocket(dataDir, 'public'),
    clientOf: clientsOf([
      { peers: secure, tls: true },
      { peers: plain, tls: false },
    ]),
    only: plain !== undefined,
  }
  if (secure === undefined) return byTable
  const { hostname: host, port } = new URL(url)
  const hsts: Record<string, string> =
    tls.hsts === 0 ? {} : { 'Strict-Transport-Security': `max-age=${Math.floor(tls.hsts / 1_000)}` }
  return {
    socket: byTable.socket,
    clientOf: byTable.clientOf,
    only: byTable.only,
    // Never a name for which no certificate could be shown.
    originOf: (name) =>
      certificates.isFor(name) ? `https://${name}${port === '' ? '' : `:${port}`}` : undefined,
    // We cannot promise anything about the names of accounts.
    headersOf: (name) => (name === host ? hsts : {}),
  }
}

/** How the private server serves what comes over TLS or from proxies; then there is no other way in. */
export function privateOverTls(
  { config, dataDir }: { config: Config; dataDir: string },
  { private: peers }: HttpsPeers,
): HttpServerOptions<never>['overTls'] {
  if (peers === undefined) return undefined
  const socket = httpsSocket(dataDir, 'private')
  const { enabled: tls } = config.http.private.tls
  return { socket, clientOf: clientsOf([{ peers, tls }]), only: true }
}

/**
 * What the thread does: it ends TLS on each listener that has some, and hears proxies at those that are behind some.
 */
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
  const opened: { name: HttpsListener; certificates?: Certificates; listener: Front }[] = []
  const open = async (
    name: HttpsListener,
    { host, port, tls }: { host: string; port: number; tls: boolean },
  ) => {
    const peers = httpsPeers[name]
    if (peers === undefined) return
    const shared = {
      clock,
      log,
      name,
      host,
      port: listenPorts[name] ?? port,
      peers,
      upstream: httpsSocket(dataDir, name === 'private' ? 'private' : 'public'),
      proxyProtocolFrom: http.proxyProtocolFrom,
      maxConnections: maxConnections[name],
      onRefused: (cause: string) =>
        meter.count('posthorn_https_refused_total', { listener: name, cause }),
    }
    if (!tls || name === 'publicPlain') {
      opened.push({ name, listener: await openPlainListener(shared) })
      return
    }
    const certificates = certificatesOf(name, { config, dataDir, log })
    const certificateFor = (serverName: string | undefined) => certificates.forName(serverName)
    const listener = await openTlsListener(Object.assign(shared, { certificateFor }))
    opened.push({ name, certificates, listener })
  }
  const close = () => Promise.all(opened.map(({ listener }) => listener.close()))
  const { host } = http.public
  try {
    await open('public', { host, port: http.public.tls.port, tls: true })
    await open('publicPlain', { host, port: http.public.port, tls: false })
    const { host: ownHost, port, tls } = http.private
    await open('private', { host: ownHost, port, tls: tls.enabled })
  } catch (error) {
    await close()
    throw error
  }
  const ports: ThreadPorts = Object.fromEntries(
    opened.map(({ name, listener }) => [name, listener.port]),
  )
  return {
    ports,
    reload() {
      for (const { certificates, listener } of opened) {
        certificates?.reload()
        if ('renew' in listener) listener.renew()
      }
    },
    async stop() {
      await close()
    },
  }
}

type Front = Awaited<ReturnType<typeof openTlsListener | typeof openPlainListener>>
