import { findAccount } from '../accounts/index.js'
import { type ClassName, laneNamed, type QueueFilter } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import { uuidForm } from '../fields/index.js'
import { queueClass, type Read } from '../store/index.js'
import { findAnyBroadcast } from './broadcast.js'

/** By what an operator chooses among waiting deliveries, as it was typed; undefined: by anything. */
export interface ChosenBy {
  /** The id of a mail. */
  email?: string | undefined
  /** An account's id or name. */
  account?: string | undefined
  /** A campaign's id. */
  campaign?: string | undefined
  domain?: string | undefined
  class?: ClassName | undefined
  /** Accepted longer ago than this. */
  olderThanMs?: number | undefined
}

/**
 * Names become ids here, so that all later code compares indexed columns. Throws an OperatorError that says which of
 * them means nothing. It stands here because nothing below knows campaigns.
 */
export async function chosenDeliveries(
  read: Read,
  { email, account, campaign, domain, class: name, olderThanMs }: ChosenBy,
  now: number,
): Promise<QueueFilter> {
  return {
    emailId: email === undefined ? undefined : emailIdOf(email),
    accountId: account === undefined ? undefined : (await findAccount(read, account)).id,
    broadcastId: campaign === undefined ? undefined : (await findAnyBroadcast(read, campaign)).id,
    lane: domain === undefined ? undefined : laneOf(domain),
    class: name === undefined ? undefined : queueClass[name],
    acceptedBefore: olderThanMs === undefined ? undefined : now - olderThanMs,
  }
}

/** RFC 9562 §4: a UUID is the same in upper and lower case. */
function emailIdOf(given: string): string {
  if (uuidForm.test(given)) return given.toLowerCase()
  throw new OperatorError(`"${given}" is not the id of an email`)
}

function laneOf(given: string): string {
  const lane = laneNamed(given)
  if (lane === undefined) throw new OperatorError(`"${given}" is not a domain name`)
  return lane
}
