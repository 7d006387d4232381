import { isIP } from 'node:net'
import { canonicalAddress, isPublicAddress, type Resolver } from '../dns/index.js'

/** What this machine says about itself; injected, because tests use other facts. */
export interface MachineFacts {
  /** As `hostname -f` says. */
  hostName: string
  /** The addresses of all interfaces. */
  addresses: readonly string[]
}

/** What the answers probably are, and what was left out. */
export interface MachineGuess {
  hostName: string | undefined
  addresses: readonly string[]
  /** Why an address of this machine was left out; a sentence for each. */
  leftOut: string[]
}

/**
 * What the answers probably are. It takes one IPv4 address; of several, the one whose reverse name is a host's own.
 * It takes an IPv6 address only with a reverse name, because large receivers refuse all mail from one without.
 */
export async function guessMachine(
  resolver: Resolver,
  { hostName, addresses }: MachineFacts,
): Promise<MachineGuess> {
  const seen = [...new Set(addresses.filter((one) => isPublicAddress(one)).map(canonicalAddress))]
  const named = await Promise.all(
    seen.map(async (address) => {
      const answer = await resolver.ptr(address)
      const names = answer.kind === 'records' ? answer.records : []
      return { address, name: names.find((name) => !isProviders(name, address)), names }
    }),
  )
  const four = named.filter(({ address }) => isIP(address) === 4)
  const own = isOwnName(hostName) ? hostName : undefined
  const first =
    four.find(({ names }) => own !== undefined && names.includes(own)) ??
    four.find(({ name }) => name) ??
    four[0]
  const name = own ?? first?.name
  const six = named.find(
    ({ address, names }) => isIP(address) === 6 && name !== undefined && names.includes(name),
  )
  const chosen = [first, six].flatMap((one) => (one === undefined ? [] : [one.address]))
  const leftOut = named
    .filter(({ address }) => isIP(address) === 6 && !chosen.includes(address))
    .map(
      ({ address }) =>
        `${address} is left out: its reverse DNS does not lead to ${name ?? 'a name of yours'}, so Gmail and others would refuse its mail.`,
    )
  return { hostName: name, addresses: chosen, leftOut }
}

/** Whether a machine's own name may be one in the DNS. */
const isOwnName = (name: string) =>
  name.includes('.') && !/\.(local|localdomain|internal|lan|home|arpa)$/i.test(name)

/** `static.25.2.0.192.clients.provider.example`: a name that the provider has made from the address. */
function isProviders(name: string, address: string): boolean {
  if (isIP(address) === 6) return /([0-9a-f]{4}[-.:]?){3}/i.test(name.split('.')[0] ?? '')
  const octets = address.split('.')
  const digits: string[] = name.match(/\d+/g) ?? []
  return octets.filter((octet) => digits.includes(octet)).length >= 2
}

/** The domain that a host name most probably belongs to. */
export function guessDomain(hostName: string): string {
  const labels = hostName.split('.')
  return labels.length > 2 ? labels.slice(1).join('.') : hostName
}
