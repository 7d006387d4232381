import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { keepNewest } from '../bounded/index.js'
import { isRecent } from '../clock/index.js'
import { canonicalAddress } from '../dns/index.js'

/** Who may be connected: a limited number at once, a limited number from one place, and not for ever. */
export interface ConnectionGate {
  /** Takes a new connection in and counts it until it leaves; false: it must be closed. */
  admit(socket: Socket): boolean
  /** The client has made progress: a command that was taken, or a good piece of a mail. */
  advanced(peer: Peer): void
  /** The connection from that peer has ended: a socket under TLS does not say so itself. */
  left(peer: Peer): void
  readonly connections: number
  closeAll(): void
}

interface Peer {
  remoteAddress?: string | undefined
  remotePort?: number | undefined
}

interface Session {
  source: string
  network: string
  advancedAt: number
  hangUp(): void
  cancelLimit(): void
}

interface GateOptions {
  connections: number
  perAddress: number
  perNetwork: number
  /** How long a client may be silent where there is room. */
  idleMs: number
  now(): number
  /** Ends a session that lasts too long; the returned function cancels that. */
  limit(end: () => void): () => void
}

// Like Postfix under stress (STRESS_README): clients without progress have 10 s instead of 5 minutes.
const crowdedShare = 0.5
const fullShare = 0.9
const crowdedFactor = 1 / 10
const fullFactor = 1 / 30

/**
 * When half of the places are taken, a client without progress for a while loses its place to a newcomer: after a tenth
 * of the usual patience, and after a thirtieth when nearly all are taken. Bytes alone are no progress, so dripping does
 * not help. When all places are taken, the newcomer gets the oldest place of the network that has most, so that an
 * attacker needs as many networks as there are places to lock anybody out.
 */
export function makeGate(options: GateOptions): ConnectionGate {
  const { connections, perAddress, perNetwork, now } = options
  const networks = new Map<string, Map<string, Session>>()
  let count = 0
  let sweptAt = Number.NEGATIVE_INFINITY

  const inNetwork = (network: string) => networks.get(network) ?? new Map<string, Session>()
  const left = (peer: Peer) => {
    const network = networkOf(peer.remoteAddress ?? '')
    const sessions = networks.get(network)
    const session = sessions?.get(nameOf(peer))
    if (sessions === undefined || session === undefined) return
    session.cancelLimit()
    sessions.delete(nameOf(peer))
    count--
    if (sessions.size === 0) networks.delete(network)
  }
  /**
   * Takes a place from the address that has most of its network, unless that address has no more than the newcomer
   * would have.
   */
  const takeFrom = (network: string, source: string | undefined): boolean => {
    const all = [...inNetwork(network).values()]
    const had = (of: string) => all.filter((session) => session.source === of)
    const heaviest = all.map((session) => had(session.source)).reduce(longer, [])
    const [oldest] = heaviest
    const own = source === undefined ? -1 : had(source).length
    if (oldest === undefined || heaviest.length <= own + 1) return false
    oldest.hangUp()
    return true
  }
  const makeRoomFor = (network: string, source: string): boolean => {
    const [name, heaviest] = [...networks].reduce((most, next) =>
      next[1].size > most[1].size ? next : most,
    )
    return heaviest.size > inNetwork(network).size + 1
      ? takeFrom(name, undefined)
      : takeFrom(network, source)
  }
  const sweep = () => {
    const share = count / connections
    // Looking at all sessions costs a little; a second is short beside any patience.
    const at = now()
    if (share < crowdedShare || isRecent(sweptAt, at, 1_000)) return
    sweptAt = at
    const factor = share < fullShare ? crowdedFactor : fullFactor
    const since = at - options.idleMs * factor
    for (const sessions of [...networks.values()]) {
      for (const session of [...sessions.values()]) {
        // The clock was set back since: the patience begins anew, and does not wait for the old time.
        session.advancedAt = Math.min(session.advancedAt, at)
        if (session.advancedAt <= since) session.hangUp()
      }
    }
  }

  return {
    get connections() {
      return count
    },
    left,
    advanced(peer) {
      const session = networks.get(networkOf(peer.remoteAddress ?? ''))?.get(nameOf(peer))
      if (session !== undefined) session.advancedAt = now()
    },
    closeAll() {
      for (const sessions of [...networks.values()]) {
        for (const { hangUp } of [...sessions.values()]) hangUp()
      }
    },
    admit(socket) {
      const { remoteAddress = '', remotePort } = socket
      const peer = { remoteAddress, remotePort }
      const source = sourceOf(remoteAddress)
      const network = networkOf(remoteAddress)
      sweep()
      const beside = inNetwork(network)
      const ofSource = [...beside.values()].filter((session) => session.source === source)
      if (ofSource.length >= perAddress) return false
      if (beside.size >= perNetwork && !takeFrom(network, source)) return false
      if (count >= connections && !makeRoomFor(network, source)) return false
      const hangUp = () => {
        left(peer)
        socket.destroy()
      }
      const cancelLimit = options.limit(hangUp)
      const session = { source, network, advancedAt: now(), hangUp, cancelLimit }
      networks.set(network, inNetwork(network).set(nameOf(peer), session))
      count++
      socket.once('close', () => left(peer))
      return true
    },
  }
}

const longer = (most: Session[], next: Session[]) => (next.length > most.length ? next : most)

const nameOf = ({ remoteAddress, remotePort }: Peer) =>
  `${canonicalAddress(remoteAddress ?? '')} ${remotePort}`

/** One subscriber: an IPv4 address, or a /64 (RFC 6177), however many addresses it has. */
export const sourceOf = (address: string) => prefixOf(address, 32, 64)

/**
 * What one customer usually rents whole: an IPv4 /24, or an IPv6 /56. Shares are by network, so
 * that renting more addresses gives no more room.
 */
export const networkOf = (address: string) => prefixOf(address, 24, 56)

// Each command of a session asks for these, and an arriving mail half a dozen times: 10 µs each (30 Nov 2026).
const prefixes = new Map<string, string>()
const mostPrefixes = 10_000

function prefixOf(address: string, bits4: number, bits6: number): string {
  const key = `${address}/${bits4}`
  const known = prefixes.get(key)
  if (known !== undefined) return known
  const prefix = reckonPrefix(address, bits4, bits6)
  keepNewest(prefixes, key, prefix, mostPrefixes)
  return prefix
}

function reckonPrefix(address: string, bits4: number, bits6: number): string {
  const plain = canonicalAddress(address).replace(/%.*$/, '')
  if (ipaddr.IPv6.isValid(plain)) {
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${plain}/${bits6}`)}/${bits6}`
  }
  if (bits4 === 32 || !ipaddr.IPv4.isValidFourPartDecimal(plain)) return plain
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${plain}/${bits4}`)}/${bits4}`
}
