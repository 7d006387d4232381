import { BlockList, isIP } from 'node:net'
import { OperatorError } from '../errors/index.js'
import { isTable, readToml, type Table } from '../toml/index.js'
import type { AgentRule, HitKind, NetworkRule, TrackingAgents } from './machines.js'

type Given = Readonly<Table>

/**
 * Reads and checks the file that comes with Posthorn and, over it, those of the operator, whose rules
 * stand for those of the same name; throws one OperatorError that lists every problem of a file.
 */
export function loadTrackingAgents(files: readonly string[]): TrackingAgents {
  const agents = new Map<string, AgentRule>()
  const networks = new Map<string, NetworkRule>()
  for (const file of files) {
    const problems: string[] = []
    const content = readToml(file, 'the tracking agents')
    for (const key of Object.keys(content)) {
      if (key !== 'agents' && key !== 'networks') {
        problems.push(`${key}: no such key; known: agents, networks`)
      }
    }
    for (const rule of rulesIn(content, 'agents', problems, agentRule)) agents.set(rule.name, rule)
    for (const rule of rulesIn(content, 'networks', problems, networkRule)) {
      networks.set(rule.name, rule)
    }
    if (problems.length > 0) {
      throw new OperatorError(`Bad tracking agents (${file}):\n  ${problems.join('\n  ')}`)
    }
  }
  return { files, agents: [...agents.values()], networks: [...networks.values()] }
}

/** Says what is wrong at a field. */
type Fault = (field: string, expected: string) => undefined

function rulesIn<R>(
  content: Given,
  table: 'agents' | 'networks',
  problems: string[],
  read: (given: Given, fault: Fault) => R | undefined,
): R[] {
  const given = content[table] ?? []
  if (!Array.isArray(given)) {
    problems.push(`${table}: expected tables [[${table}]]`)
    return []
  }
  return given.flatMap((entry: unknown, index) => {
    const rule: Given = isTable(entry) ? entry : {}
    const place = `[[${table}]] ${typeof rule.name === 'string' ? `"${rule.name}"` : index + 1}`
    return (
      read(rule, (field, expected) => {
        const shown = (JSON.stringify(rule[field]) ?? 'nothing').slice(0, 80)
        problems.push(`${place}: ${field}: ${shown} given, expected ${expected}`)
        return undefined
      }) ?? []
    )
  })
}

function agentRule(given: Given, fault: Fault): AgentRule | undefined {
  refuseUnknown(given, ['name', 'of', 'contains', 'is'], fault)
  const name = nameIn(given, fault)
  const of = kindsIn(given, fault)
  const contains = textsIn(given, 'contains', fault)
  const is = textsIn(given, 'is', fault)
  if (name === undefined || of === undefined || !contains || !is) return undefined
  if (contains.includes('')) return fault('contains', 'texts that are not empty')
  if (contains.length + is.length === 0) return fault('contains', 'texts here or in "is"')
  return { name, of, contains: contains.map((part) => part.toLowerCase()), is }
}

function networkRule(given: Given, fault: Fault): NetworkRule | undefined {
  refuseUnknown(given, ['name', 'of', 'ranges'], fault)
  const name = nameIn(given, fault)
  const of = kindsIn(given, fault)
  const texts = textsIn(given, 'ranges', fault)
  if (name === undefined || of === undefined || !texts) return undefined
  const ranges = new BlockList()
  if (texts.length === 0 || !texts.every((range) => addRange(ranges, range))) {
    return fault('ranges', 'a list of networks such as "192.0.2.0/24"')
  }
  return { name, of, ranges }
}

function addRange(ranges: BlockList, range: string): boolean {
  const [address = '', bits = '', ...more] = range.split('/')
  const version = isIP(address)
  const widest = version === 4 ? 32 : 128
  if (version === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > widest)
    return false
  ranges.addSubnet(address, Number(bits), version === 4 ? 'ipv4' : 'ipv6')
  return true
}

function refuseUnknown(given: Given, known: readonly string[], fault: Fault): void {
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) fault(key, `one of the keys ${known.join(', ')}`)
  }
}

const nameIn = ({ name }: Given, fault: Fault) =>
  typeof name === 'string' && name !== '' ? name : fault('name', 'a text')

const kinds: readonly HitKind[] = ['opened', 'clicked']

/** Without any: of both. */
function kindsIn({ of = kinds }: Given, fault: Fault): readonly HitKind[] | undefined {
  const found = Array.isArray(of) ? kinds.filter((kind) => of.includes(kind)) : []
  if (Array.isArray(of) && of.length > 0 && found.length === of.length) return found
  return fault('of', 'a list of "opened" and "clicked"')
}

function textsIn(given: Given, field: string, fault: Fault): string[] | undefined {
  const texts = given[field] ?? []
  const good = Array.isArray(texts) && texts.every((text) => typeof text === 'string')
  return good ? texts : fault(field, 'a list of texts')
}
