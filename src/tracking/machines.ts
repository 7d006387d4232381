import { type BlockList, isIP } from 'node:net'
import { keepNewest } from '../bounded/index.js'

export type HitKind = 'opened' | 'clicked'

/** Programs and networks that fetch what nobody reads: `config/tracking-agents.toml`, checked. */
export interface TrackingAgents {
  files: readonly string[]
  agents: readonly AgentRule[]
  networks: readonly NetworkRule[]
}

export interface AgentRule {
  name: string
  /** Its requests of these kinds count as a machine's. */
  of: readonly HitKind[]
  /** Parts of the User-Agent, in lower case. */
  contains: readonly string[]
  /** The whole User-Agent, unchanged. */
  is: readonly string[]
}

export interface NetworkRule {
  name: string
  of: readonly HitKind[]
  ranges: BlockList
}

/** The machine that asks, by the name of its rule; undefined for a possible person. */
export type MachineAsking = (asked: {
  kind: HitKind
  userAgent: string
  address: string
}) => string | undefined

// Readers are many, but their programs and proxies are few.
const maxKnown = 5_000

/**
 * Tells whether a machine has asked: the name of the program or network by which it is known,
 * undefined for a reader.
 */
export function makeMachineAsking({ agents, networks }: TrackingAgents): MachineAsking {
  const agentOf = remembering((kind, userAgent) => {
    const lower = userAgent.toLowerCase()
    return agents.find(
      ({ of, contains, is }) =>
        of.includes(kind) &&
        (is.includes(userAgent) || contains.some((part) => lower.includes(part))),
    )?.name
  })
  const networkOf = remembering((kind, address) => {
    const version = isIP(address)
    if (version === 0) return undefined
    const family = version === 6 ? 'ipv6' : 'ipv4'
    return networks.find(({ of, ranges }) => of.includes(kind) && ranges.check(address, family))
      ?.name
  })
  return ({ kind, userAgent, address }) => agentOf(kind, userAgent) ?? networkOf(kind, address)
}

function remembering(find: (kind: HitKind, text: string) => string | undefined) {
  const known = { opened: new Map<string, string>(), clicked: new Map<string, string>() }
  return (kind: HitKind, text: string): string | undefined => {
    const names = known[kind]
    let name = names.get(text)
    if (name === undefined) {
      name = find(kind, text) ?? nobody
      keepNewest(names, text, name, maxKnown)
    }
    return name === nobody ? undefined : name
  }
}

// No rule has an empty name.
const nobody = ''
