import { Option } from 'commander'
import { chosenDeliveries } from '../broadcasts/index.js'
import { type ClassName, classNames, type QueueFilter } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import { uuidForm } from '../fields/index.js'
import type { Read } from '../store/index.js'
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

/** What the options mean. */
export const filterOf = (
  read: Read,
  { olderThan: olderThanMs, ...by }: FilterOptions,
  now: number,
): Promise<QueueFilter> => chosenDeliveries(read, { ...by, olderThanMs }, now)

/** A delivery by its number, or an email by its id. */
export function idOf(given: string): { id: number } | { emailId: string } {
  if (isRowNumber(given)) return { id: Number(given) }
  // RFC 9562 §4: a UUID is the same in upper and lower case.
  if (uuidForm.test(given)) return { emailId: given.toLowerCase() }
  throw new OperatorError(
    `"${given}" is neither the number of a delivery nor the id of an email; 'posthorn queue list --json' shows both`,
  )
}
