import { connect, type Server, type Socket } from 'node:net'
import { type Clock, isRecent } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type ConnectionGate, makeGate, makeProxyDoor, speakFor } from '../smtpd/index.js'
import { openSeats } from './peers.js'

/*
 * What this thread's listeners have in common, with TLS and without: which clients they let in, and how a client
 * reaches the server behind.
 */

export interface FrontOptions {
  clock: Clock
  log: Log
  /** In the log and in messages: `http.public.tls`. */
  name: string
  host: string
  /** 0 takes a free one. */
  port: number
  /** The Unix socket of the server behind, which need not exist yet. */
  upstream: string
  /** Where the server behind looks up clients; it has a row for each possible connection. */
  peers: SharedArrayBuffer
  /** Peers that have to begin with a PROXY header, which names the client. Default: none. */
  proxyProtocolFrom?: readonly string[]
  /** The most at once, counted from the first byte of TCP on. */
  maxConnections: number
  /** Called for clients that did not reach the server behind. */
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

// The gate's patience while there is room; uWS's own is far shorter, except for slow handlers.
const idleMs = 600_000
// The time for reading the rest of what the server behind sent before it closed.
const lingerMs = 10_000

/** Lets clients in by their own addresses, and hands them over. */
export function makeFrontDoor(options: FrontOptions) {
  const { clock, log, name: listener, maxConnections, onRefused = () => {} } = options
  const gate = makeGate({
    connections: maxConnections,
    // A proxy of the operator's or of a mailbox provider may have most of the clients.
    perAddress: Math.ceil(maxConnections / 2),
    perNetwork: Math.ceil(maxConnections / 2),
    idleMs,
    now: () => clock.now(),
    // No limit: a download may take long, and a connection may be reused often.
    limit: () => () => {},
  })
  const from = options.proxyProtocolFrom ?? []
  const door = makeProxyDoor({ from, clock, log, listener })
  const takeSeat = openSeats(options.peers)
  return {
    connections: () => gate.connections,
    /** Calls `take` with a client that may stay; its socket then tells for whom a proxy speaks. */
    admit(incoming: Socket, take: (socket: Socket) => void): void {
      incoming.on('error', () => {})
      door(incoming, (socket, peer) => {
        if (peer !== undefined) speakFor(socket, peer)
        if (gate.admit(socket)) return take(socket)
        onRefused('crowded')
        socket.destroy()
      })
    },
    /**
     * Connects a client with the server behind. `raw` is the socket that was let in: the client's own, or the one under
     * its TLS.
     */
    handOver(client: Socket, raw: Socket): void {
      const peer = { remoteAddress: raw.remoteAddress, remotePort: raw.remotePort }
      const seat = takeSeat(peer.remoteAddress?.replace(/%.*/, '') ?? '')
      // There is a row for each client that the gate lets in: only one that has already left gets
      // none.
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

/** Passes bytes both ways, at the slower side's pace, until one side ends. */
function join(
  client: Socket,
  inner: Socket,
  { clock, gate, peer }: { clock: Clock; gate: ConnectionGate; peer: SeenPeer },
): void {
  let toldAt = Number.NEGATIVE_INFINITY
  const advance = () => {
    const now = clock.now()
    // Telling the gate costs more than a small answer.
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
    // `pipe` has ended it, or an error has destroyed it; but the client may not read the rest.
    const cancel = clock.after(lingerMs, () => client.destroy())
    if (client.destroyed) cancel()
    else client.once('close', cancel)
  })
}
