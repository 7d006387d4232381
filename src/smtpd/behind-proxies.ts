import type { Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import type { Clock } from '../clock/index.js'
import { canonicalAddress, liesWithin } from '../dns/index.js'
import { type Log, makeSeldom } from '../log/index.js'
import { longestProxyHeader, type ProxiedPeer, readProxyHeader } from './proxy-header.js'

/**
 * Takes a connection once its real peer is known: the peer that a proxy names, or, without one, whoever has connected.
 */
type Take = (socket: Socket, peer: ProxiedPeer | undefined) => void

/** What is in front of a listener that may be behind proxies. */
export interface ProxyDoor {
  (socket: Socket, take: Take): void
  /** Closes connections whose header has not come yet. */
  close(): void
}

// A proxy writes the header with its first segment; the client behind it cannot delay that.
const headerMs = 5_000
// How many may wait for their header at once: a network that was named too wide may hold no more.
const mostWaiting = 256

/**
 * Whoever connects from the networks `from` must begin with a PROXY header (version 2), and is closed without one: §2
 * forbids guessing, as a client could then write a header itself. All others are taken as they come; what they write is
 * the listener's own protocol, in which a header is nonsense.
 */
export function makeProxyDoor({
  from,
  clock,
  log,
  listener,
}: {
  /** Addresses and networks in CIDR notation; empty: nobody is asked for a header. */
  from: readonly string[]
  clock: Clock
  log: Log
  /** The listener's name in the log. */
  listener: string
}): ProxyDoor {
  const waiting = new Set<Socket>()
  const seldom = makeSeldom(clock)
  const refuse = (socket: Socket, proxy: string, why: string) => {
    seldom(() =>
      log.warn({ listener, proxy, why }, 'A connection without a good PROXY header was closed'),
    )
    socket.destroy()
  }
  const door = (socket: Socket, take: Take) => {
    if (from.length === 0) return take(socket, undefined)
    const proxy = canonicalAddress(socket.remoteAddress ?? '')
    // The peer has left already.
    if (proxy === '') return void socket.destroy()
    if (!liesWithin(proxy, from)) return take(socket, undefined)
    socket.on('error', ignored)
    if (waiting.size >= mostWaiting) return refuse(socket, proxy, 'too many wait for theirs')
    waiting.add(socket)
    const cancel = clock.after(headerMs, () => refuse(socket, proxy, 'it did not come in time'))
    const settle = () => {
      cancel()
      waiting.delete(socket)
      socket.off('readable', look)
      socket.off('close', settle)
    }
    let begun: Buffer = Buffer.alloc(0)
    const look = () => {
      const more: Buffer | null = socket.read()
      if (more === null) return
      begun = Buffer.concat([begun, more])
      const header = readProxyHeader(begun)
      // A good header is complete at that length.
      if (header.kind === 'more' && begun.length < longestProxyHeader) return
      settle()
      if (header.kind !== 'read') {
        return refuse(socket, proxy, header.kind === 'broken' ? header.why : 'it does not end')
      }
      if (begun.length > header.bytes) socket.unshift(begun.subarray(header.bytes))
      socket.off('error', ignored)
      take(socket, header.peer)
    }
    socket.on('readable', look)
    socket.once('close', settle)
  }
  return Object.assign(door, {
    close() {
      for (const socket of waiting) socket.destroy()
    },
  })
}

const ignored = () => {}

/** From now on the socket reports the address and port that the proxy gave. */
export function speakFor(socket: Socket, { address, port }: ProxiedPeer): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address, configurable: true },
    remotePort: { value: port, configurable: true },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4', configurable: true },
  })
}

/**
 * A TLS socket from the first byte on is another object, which knows only the proxy: smtp-server is told the peer
 * separately.
 */
export function tellPeers(server: SMTPServer): void {
  const begin = server._handleProxy.bind(server)
  server._handleProxy = (socket, done) =>
    begin(socket, (error, options) => {
      const { remoteAddress = '', remotePort = 0 } = socket
      done(error, options && Object.assign(options, { remoteAddress, remotePort }))
    })
}
