import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { canonicalAddress } from '../dns/index.js'

/** Who may be connected: at most so many at once, so many from one address, and not for ever. */
export interface Gate {
  /** Takes a new connection in and counts it until it leaves; false: it has to go. */
  admit(socket: Socket): boolean
  /** The connection from there has ended: a socket under TLS does not say so itself. */
  left(peer: Peer): void
  readonly connections: number
  closeAll(): void
}

interface Peer {
  remoteAddress?: string | undefined
  remotePort?: number | undefined
}

interface Session {
  hangUp(): void
  cancelLimit(): void
}

export interface GateOptions {
  connections: number
  perAddress: number
  /** Ends a session that lasts too long; the returned function takes it back. */
  limit(end: () => void): () => void
}

/**
 * When all places are taken, a newcomer gets the one of the oldest connection of whoever has most of
 * them, so that it takes as many attackers as there are places to lock anybody out.
 */
export function makeGate(options: GateOptions): Gate {
  const sources = new Map<string, Map<string, Session>>()
  let count = 0

  const left = (peer: Peer) => {
    const source = sourceOf(peer.remoteAddress ?? '')
    const sessions = sources.get(source)
    const session = sessions?.get(nameOf(peer))
    if (sessions === undefined || session === undefined) return
    session.cancelLimit()
    sessions.delete(nameOf(peer))
    count--
    if (sessions.size === 0) sources.delete(source)
  }
  const makeRoomFor = (source: string): boolean => {
    const heaviest = [...sources.values()].reduce((most, next) =>
      next.size > most.size ? next : most,
    )
    const [oldest] = heaviest.values()
    if (oldest === undefined || heaviest.size <= (sources.get(source)?.size ?? 0) + 1) return false
    oldest.hangUp()
    return true
  }

  return {
    get connections() {
      return count
    },
    left,
    closeAll() {
      for (const sessions of [...sources.values()]) {
        for (const { hangUp } of [...sessions.values()]) hangUp()
      }
    },
    admit(socket) {
      const { remoteAddress, remotePort } = socket
      const peer = { remoteAddress, remotePort }
      const source = sourceOf(remoteAddress ?? '')
      if ((sources.get(source)?.size ?? 0) >= options.perAddress) return false
      if (count >= options.connections && !makeRoomFor(source)) return false
      const hangUp = () => {
        left(peer)
        socket.destroy()
      }
      const sessions = sources.get(source) ?? new Map<string, Session>()
      const cancelLimit = options.limit(hangUp)
      sources.set(source, sessions.set(nameOf(peer), { hangUp, cancelLimit }))
      count++
      socket.once('close', () => left(peer))
      return true
    },
  }
}

const nameOf = ({ remoteAddress, remotePort }: Peer) =>
  `${canonicalAddress(remoteAddress ?? '')} ${remotePort}`

/** Whom an address belongs to: a /64 is one subscriber's (RFC 6177), however many addresses it has. */
export function sourceOf(address: string): string {
  const plain = canonicalAddress(address)
  if (!ipaddr.IPv6.isValid(plain)) return plain
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${plain.replace(/%.*$/, '')}/64`)}/64`
}
