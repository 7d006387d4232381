import { makeMachineAsking, type TrackingAgents } from './machines.js'

/** A request for the one link of a mail, and when a server had taken that mail; null: none has yet. */
export interface LinkRequest {
  method: string
  header(name: string): string | undefined
  remoteAddress: string
  /** The request came by TLS. */
  isSecure: boolean
  arrivedAt: number | null
  now: number
}

/**
 * The sign by which a single request is recognized as a machine's, for actions that one click triggers; undefined for
 * a possible person. `agents` is called each time, because its file may have been read again.
 */
export function makeMachineSign(agents: () => TrackingAgents, machineWithinMs: number) {
  let read: TrackingAgents | undefined
  let nameOf = makeMachineAsking({ files: [], agents: [], networks: [] })
  return (asked: LinkRequest): string | undefined => {
    const { method, header, remoteAddress: address, arrivedAt, now } = asked
    if (read !== agents()) {
      read = agents()
      nameOf = makeMachineAsking(read)
    }
    if (method !== 'GET') return method
    // What a browser fetches before anybody has asked for it (Fetch Metadata, Speculation Rules).
    const purpose = header('sec-purpose') ?? header('purpose') ?? header('x-moz')
    if (purpose !== undefined) return purpose
    // W3C Fetch Metadata §2.1: somebody who follows a link gets a document; older programs do not say.
    const dest = header('sec-fetch-dest')
    if (dest !== undefined && dest !== 'document') return `for ${dest}`
    const userAgent = header('user-agent') ?? ''
    if (!isBrowsers(asked)) return 'not as browsers ask'
    if (machineWithinMs > 0) {
      if (arrivedAt === null) return 'before the mail had arrived'
      if (Math.abs(now - arrivedAt) < machineWithinMs) return 'as soon as the mail had arrived'
    }
    return nameOf({ kind: 'clicked', userAgent, address })
  }
}

/**
 * Whether the request looks like a browser's for a page that somebody opens; `curl` and the like say less by default.
 */
function isBrowsers({ header, isSecure }: LinkRequest): boolean {
  const named = (name: string) => header(name) ?? ''
  if (!named('user-agent').startsWith('Mozilla/5.0 (')) return false
  if (!named('accept').includes('text/html') || named('accept-language') === '') return false
  // W3C Fetch Metadata §2.2: browsers send it where the address is trustworthy, by TLS. Users of older ones get the
  // button.
  return !isSecure || header('sec-fetch-mode') === 'navigate'
}

export type MachineSign = ReturnType<typeof makeMachineSign>
