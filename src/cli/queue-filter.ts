import { domainToASCII } from 'node:url'
import { Option } from 'commander'
import { findAccount } from '../accounts/index.js'
import { findAnyBroadcast } from '../broadcasts/index.js'
import { type ClassName, classNames, type QueueFilter } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import { queueClass, type Read } from '../store/index.js'
import { isRowNumber, span } from './option-values.js'

/** The options by which an operator chooses among the waiting deliveries. */
export interface FilterOptions {
  email?: string
  account?: string
  campaign?: string
  domain?: string
  class?: ClassName
  olderThan?: number
}

/**
 * The options of every command that chooses among waiting deliveries; made anew for each command,
 * as Commander keeps values in them.
 */
export const filterOptions = (): Option[] => [
  new Option('--email <id>', 'of this mail'),
  new Option('--account <id>', 'of this account, by id or name'),
  new Option('--campaign <id>', 'of this campaign'),
  new Option('--domain <name>', "to this recipients' domain"),
  new Option('--class <class>', 'of this class').choices(classNames),
  new Option('--older-than <age>', 'accepted longer ago than this: 90s, 30m, 2h, 3d').argParser(
    span('3d', '0s', '36500d'),
  ),
]

/** Whether any of them was given. */
export const isChosen = ({
  email,
  account,
  campaign,
  domain,
  class: name,
  olderThan,
}: FilterOptions) =>
  [email, account, campaign, domain, name, olderThan].some((given) => given !== undefined)

/** Names become ids here, so that all later code compares indexed columns. */
export async function filterOf(
  read: Read,
  options: FilterOptions,
  now: number,
): Promise<QueueFilter> {
  const { email, account, campaign, domain, class: name, olderThan } = options
  return {
    emailId: email === undefined ? undefined : emailIdOf(email),
    accountId: account === undefined ? undefined : (await findAccount(read, account)).id,
    broadcastId: campaign === undefined ? undefined : (await findAnyBroadcast(read, campaign)).id,
    lane: domain === undefined ? undefined : laneOf(domain),
    class: name === undefined ? undefined : queueClass[name],
    acceptedBefore: olderThan === undefined ? undefined : now - olderThan,
  }
}

/** A delivery by its number, or an email by its id. */
export function idOf(given: string): { id: number } | { emailId: string } {
  if (isRowNumber(given)) return { id: Number(given) }
  return { emailId: emailIdOf(given) }
}

/** RFC 9562 §4: a UUID is the same in upper and lower case. */
function emailIdOf(given: string): string {
  const id = given.toLowerCase()
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id
  throw new OperatorError(
    `"${given}" is neither the number of a delivery nor the id of an email; 'posthorn queue list --json' shows both`,
  )
}

/** Lanes are domains as A-labels in lower case (RFC 5890 §2.3.2.1), as the queue has them. */
function laneOf(given: string): string {
  const lane = domainToASCII(given).toLowerCase()
  if (lane === '') throw new OperatorError(`"${given}" is not a domain name`)
  return lane
}
