import { type BlockList, isIP } from 'node:net'

export type HitKind = 'opened' | 'clicked'

/** Programs and networks that fetch what nobody reads: `config/tracking-agents.toml`, checked. */
export interface TrackingAgents {
  files: readonly string[]
  agents: readonly AgentRule[]
  networks: readonly NetworkRule[]
}

export interface AgentRule {
  name: string
  /** Of these kinds its requests are a machine's. */
  of: readonly HitKind[]
  /** Parts of the User-Agent, in lower case. */
  contains: readonly string[]
  /** The whole of it, as it is. */
  is: readonly string[]
}

export interface NetworkRule {
  name: string
  of: readonly HitKind[]
  ranges: BlockList
}

/** The machine that asks, by the name that its rule has; undefined for what may be a person. */
export function machineAsking(
  { agents, networks }: TrackingAgents,
  { kind, userAgent, address }: { kind: HitKind; userAgent: string; address: string },
): string | undefined {
  const lower = userAgent.toLowerCase()
  const agent = agents.find(
    ({ of, contains, is }) =>
      of.includes(kind) &&
      (is.includes(userAgent) || contains.some((part) => lower.includes(part))),
  )
  if (agent !== undefined) return agent.name
  const version = isIP(address)
  if (version === 0) return undefined
  const family = version === 6 ? 'ipv6' : 'ipv4'
  return networks.find(({ of, ranges }) => of.includes(kind) && ranges.check(address, family))?.name
}
