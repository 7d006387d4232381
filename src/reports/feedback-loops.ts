import { liesWithin } from '../dns/index.js'

/** Who is known to send complaints on behalf of a mailbox provider's users. */
export interface FeedbackLoop {
  readonly name: string
  /** Its reports are signed and sent by these domains, or by what lies below them. */
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
