import { connect, type Server, type Socket } from 'node:net'
import { type Clock, isRecent } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type ConnectionGate, makeGate, makeProxyDoor, speakFor } from '../smtpd/index.js'
import { openSeats } from './peers.js'

/*
 * What the listeners of this thread have in common, with TLS and without: whom they let in, and how a client comes to the
 * server behind.
 */

export interface FrontOptions {
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
  /** Who has to begin with a PROXY header; the client is whom it names. Default: nobody. */
  proxyProtocolFrom?: readonly string[]
  /** At once, from the first byte of TCP on. */
  maxConnections: number
  /** Called for clients that did not get as far as to the server behind. */
  onRefused?: (cause: RefusedCause) => void
}

export type RefusedCause = 'crowded' | 'silent' | 'plain' | 'handshake' | 'upstream'

/** A listener that is open. */
export interface OpenFront {
  readonly port: number
  readonly connections: number
  /** Takes no new connection, and closes those that are open. */
  close(): Promise<void>
}

type SeenPeer = Pick<Socket, 'remoteAddress' | 'remotePort'>

// The gate's patience where there is room; uWS's own is far shorter, but for handlers that take their time.
const idleMs = 600_000
// For reading the rest of what the server behind has sent before it closed.
const lingerMs = 10_000

/** Lets clients in by their own addresses, and hands them over. */
export function makeFrontDoor(options: FrontOptions) {
  const { clock, log, name: listener, maxConnections, onRefused = () => {} } = options
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
  const from = options.proxyProtocolFrom ?? []
  const door = makeProxyDoor({ from, clock, log, listener })
  const takeSeat = openSeats(options.peers)
  return {
    connections: () => gate.connections,
    /** Calls `take` with who may stay; from then on the socket says of itself whom a proxy speaks for. */
    admit(incoming: Socket, take: (socket: Socket) => void): void {
      incoming.on('error', () => {})
      door(incoming, (socket, peer) => {
        if (peer !== undefined) speakFor(socket, peer)
        if (gate.admit(socket)) return take(socket)
        onRefused('crowded')
        socket.destroy()
      })
    },
    /** Connects a client with the server behind. `raw`: the socket that was let in; the client's own, or what its TLS is over. */
    handOver(client: Socket, raw: Socket): void {
      const peer = { remoteAddress: raw.remoteAddress, remotePort: raw.remotePort }
      const seat = takeSeat(peer.remoteAddress?.replace(/%.*/, '') ?? '')
      // One row for each that the gate lets in: only who has left already has none.
      if (seat === undefined) return void client.destroy()
      const inner = connect({ path: options.upstream })
      inner.once('error', () => inner.bytesRead === 0 && onRefused('upstream'))
      inner.write(seat.preamble)
      client.once('close', seat.leave)
      join(client, inner, { clock, gate, peer })
    },
    async close(server: Server): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      door.close()
      gate.closeAll()
      await closed
    },
  }
}

/** Listens; resolves with the port. Throws an `OperatorError` if it can't. */
export async function openPort(
  server: Server,
  { name, host, port }: Pick<FrontOptions, 'name' | 'host' | 'port'>,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const where = `${host}:${port} for ${name}`
      reject(new OperatorError(`Cannot listen on ${where}: ${cause.message}`, { cause }))
    })
    server.listen({ host, port, backlog: 1_024 }, resolve)
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

/** What the one says the other hears, at the pace of who is slower, until one of them ends. */
function join(
  client: Socket,
  inner: Socket,
  { clock, gate, peer }: { clock: Clock; gate: ConnectionGate; peer: SeenPeer },
): void {
  let toldAt = Number.NEGATIVE_INFINITY
  const advance = () => {
    const now = clock.now()
    // To tell costs more than a small answer does.
    if (isRecent(toldAt, now, 1_000)) return
    toldAt = now
    gate.advanced(peer)
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
