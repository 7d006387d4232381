import { liesWithin, parseCidrs } from '../dns/index.js'
import {
  namedTables,
  openFile,
  refuseOthers,
  type Table,
  type TomlPlace,
  wholeFile,
  wrongValue,
} from '../toml/index.js'

/** A known sender of complaints on behalf of a mailbox provider's users. */
export interface FeedbackLoop {
  readonly name: string
  /** The loop's reports are signed and sent by these domains, or by domains below them. */
  readonly domains: readonly string[]
  /**
   * The only addresses that its reports come from; set if users have mailboxes at the domain too.
   */
  readonly senders: readonly string[]
  /** Networks (CIDR) whose reports count without proof, as the operator vouches for them. */
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

/**
 * Reads and checks the feedback loops that come with Posthorn and the operator's, which replace those
 * of the same name. Throws one OperatorError that lists every problem of a file.
 */
export function loadFeedbackLoops(files: readonly string[]): readonly FeedbackLoop[] {
  const loops = new Map<string, FeedbackLoop>()
  for (const name of files) {
    const file = openFile(name, 'the feedback loops')
    refuseOthers(wholeFile(file), file.content, ['loops'])
    for (const { given, place } of namedTables(file, 'loops')) {
      const loop = readLoop(given, place)
      loops.set(loop.name, loop)
    }
    file.refuseBad('Bad feedback loops')
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

function readLoop(given: Table, place: TomlPlace): FeedbackLoop {
  const { name } = given
  if (typeof name !== 'string' || name === '') wrongValue(place, 'name', name, 'a text')
  const texts = (key: string, isGood: (text: string) => boolean, expected: string): string[] => {
    const list = given[key] ?? []
    if (Array.isArray(list) && list.every((text) => typeof text === 'string' && isGood(text))) {
      return list
    }
    return wrongValue(place, key, list, expected) ?? []
  }
  const domains = texts('domains', isDomain, 'a list of domains in lower case')
  const senders = texts('senders', isAddress, 'a list of addresses in lower case')
  const networks = texts('networks', isNetwork, 'a list of networks such as "192.0.2.0/24"')
  refuseOthers(place, given, ['name', 'domains', 'senders', 'networks'])
  return { name: String(name), domains, senders, networks }
}
