import { liesWithin, parseCidrs } from '../dns/index.js'
import { OperatorError } from '../errors/index.js'
import { readToml, type Table } from '../toml/index.js'

/** Who is known to send complaints on behalf of a mailbox provider's users. */
export interface FeedbackLoop {
  readonly name: string
  /** The loop's reports are signed and sent by these domains, or by what lies below them. */
  readonly domains: readonly string[]
  /** Where users have mailboxes at the domain too: the only addresses that its reports come from. */
  readonly senders: readonly string[]
  /** Networks (CIDR) whose reports count as they are: the operator vouches for them. */
  readonly networks: readonly string[]
}

/** Whether the domain (lower case) is one of the loop's. */
export const isDomainOf = ({ domains }: FeedbackLoop, domain: string) =>
  domains.some((own) => domain === own || domain.endsWith(`.${own}`))

/** Whether the loop's reports come from this address (lower case). */
export function isSenderOf(loop: FeedbackLoop, address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return isDomainOf(loop, domain) && (loop.senders.length === 0 || loop.senders.includes(address))
}

/** The loop whose networks have the address. */
export const loopAt = (loops: readonly FeedbackLoop[], remoteAddress: string) =>
  loops.find(({ networks }) => networks.length > 0 && liesWithin(remoteAddress, networks))

type Given = Readonly<Table>

const keys = ['name', 'domains', 'senders', 'networks']

/**
 * Reads and checks the feedback loops that come with Posthorn and, over them, those of the operator,
 * which stand for those of the same name; throws one OperatorError that lists every problem of a file.
 */
export function loadFeedbackLoops(files: readonly string[]): readonly FeedbackLoop[] {
  const loops = new Map<string, FeedbackLoop>()
  for (const file of files) {
    const problems: string[] = []
    const content = readToml(file, 'the feedback loops')
    for (const key of Object.keys(content)) {
      if (key !== 'loops') problems.push(`${key}: no such key; known: loops`)
    }
    const given = content.loops ?? []
    if (!Array.isArray(given)) problems.push('loops: expected tables [[loops]]')
    else {
      for (const [index, entry] of given.entries()) {
        const loop = readLoop(index, entry, problems)
        if (loop !== undefined) loops.set(loop.name, loop)
      }
    }
    if (problems.length > 0) {
      throw new OperatorError(`Bad feedback loops (${file}):\n  ${problems.join('\n  ')}`)
    }
  }
  return [...loops.values()]
}

const domainForm = /^(?=.{1,253}$)(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/
const isDomain = (text: string) => domainForm.test(text)
const isAddress = (text: string) =>
  /^[^\s@<>"]{1,64}@/.test(text) && isDomain(text.split('@')[1] ?? '')

function isNetwork(text: string): boolean {
  try {
    return parseCidrs([text]).length === 1
  } catch {
    return false
  }
}

function readLoop(index: number, entry: unknown, problems: string[]): FeedbackLoop | undefined {
  const given: Given = typeof entry === 'object' && entry !== null ? (entry as Given) : {}
  const { name } = given
  const place = `[[loops]] ${typeof name === 'string' ? `"${name}"` : index + 1}`
  const before = problems.length
  const fault = (field: string, expected: string) => {
    const shown = (JSON.stringify(given[field]) ?? 'nothing').slice(0, 80)
    problems.push(`${place}: ${field}: ${shown} given, expected ${expected}`)
  }
  for (const key of Object.keys(given)) {
    if (!keys.includes(key)) fault(key, `one of the keys ${keys.join(', ')}`)
  }
  const texts = (field: string, isGood: (text: string) => boolean, expected: string): string[] => {
    const list = given[field] ?? []
    if (Array.isArray(list) && list.every((text) => typeof text === 'string' && isGood(text))) {
      return list
    }
    fault(field, expected)
    return []
  }
  if (typeof name !== 'string' || name === '') fault('name', 'a text')
  const domains = texts('domains', isDomain, 'a list of domains in lower case')
  const senders = texts('senders', isAddress, 'a list of addresses in lower case')
  const networks = texts('networks', isNetwork, 'a list of networks such as "192.0.2.0/24"')
  const loop = { name: String(name), domains, senders, networks }
  return problems.length > before ? undefined : loop
}
