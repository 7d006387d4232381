import { BlockList, isIP } from 'node:net'
import {
  isNetwork as isNetworkOrAddress,
  orNothing,
  readAllKeys,
  setting,
  texts,
} from '../config/index.js'
import { textLike } from '../fields/index.js'
import {
  namedTables,
  openFile,
  refuseOthers,
  type Table,
  type TomlPlace,
  wholeFile,
  wrongValue,
} from '../toml/index.js'
import type { AgentRule, HitKind, NetworkRule, TrackingAgents } from './machines.js'

/**
 * Reads and checks the file that comes with Posthorn and, over it, those of the operator, whose rules replace those
 * of the same name; throws one OperatorError that lists every problem of a file.
 */
export function loadTrackingAgents(files: readonly string[]): TrackingAgents {
  const agents = new Map<string, AgentRule>()
  const networks = new Map<string, NetworkRule>()
  for (const name of files) {
    const file = openFile(name, 'the tracking agents')
    refuseOthers(wholeFile(file), file.content, ['agents', 'networks'])
    for (const { given, place } of namedTables(file, 'agents')) {
      const rule = agentRule(given, place)
      agents.set(rule.name, rule)
    }
    for (const { given, place } of namedTables(file, 'networks')) {
      const rule = networkRule(given, place)
      networks.set(rule.name, rule)
    }
    file.refuseBad('Bad tracking agents')
  }
  return { files, agents: [...agents.values()], networks: [...networks.values()] }
}

/** A single address is not a range here. */
const isNetwork = (range: string) => range.includes('/') && isNetworkOrAddress(range)

const kinds: readonly HitKind[] = ['opened', 'clicked']
const isKind = (given: string) => kinds.some((kind) => kind === given)
// An agent may be empty: `is = [""]` matches that.
const whole = texts(() => true, 'a list of texts')
const parts = texts((item) => item !== '', 'a list of texts that are not empty')

// The keys of both kinds of rules. Without `of` a rule is for both.
const anyRule = {
  name: setting('', textLike(/./, 'a text')),
  of: orNothing(
    texts((item) => isKind(item), 'a list of "opened" and "clicked"'),
    kinds,
  ),
} as const
const agentSettings = {
  ...anyRule,
  contains: orNothing(parts, []),
  is: orNothing(whole, []),
} as const
const networkSettings = {
  ...anyRule,
  ranges: texts(isNetwork, 'a list of networks such as "192.0.2.0/24"'),
} as const

function agentRule(given: Table, place: TomlPlace): AgentRule {
  const { name, of, contains, is } = readAllKeys(agentSettings, given, place)
  const isEmpty = (value: unknown) => !Array.isArray(value) || value.length === 0
  if (isEmpty(given.contains) && isEmpty(given.is)) {
    wrongValue(place, 'contains', given.contains, 'texts here or in "is"')
  }
  return {
    name,
    of: kinds.filter((kind) => of.includes(kind)),
    contains: contains.map((part) => part.toLowerCase()),
    is,
  }
}

function networkRule(given: Table, place: TomlPlace): NetworkRule {
  const { name, of, ranges: networks } = readAllKeys(networkSettings, given, place)
  const ranges = new BlockList()
  for (const range of networks) addRange(ranges, range)
  return { name, of: kinds.filter((kind) => of.includes(kind)), ranges }
}

function addRange(ranges: BlockList, range: string): void {
  const [address = '', bits] = range.split('/')
  ranges.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6')
}
