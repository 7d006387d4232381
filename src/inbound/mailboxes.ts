import { domainToASCII } from 'node:url'
import type { Clock } from '../clock/index.js'
import type { ReturnPaths } from '../deliveries/index.js'
import {
  dmarcMailbox,
  hasVerifiedDomain,
  isReturnPathHost,
  tlsReportMailbox,
} from '../domains/index.js'
import { postmaster, type TakenFor, type Taking } from '../receiving/index.js'
import { acceptedAt, type Read } from '../store/index.js'

/** The answer to RCPT and what happens to the mail, which both follow from the address alone. */
export type RcptDecision =
  /** A return path of ours, or the address that feedback loops report to. */
  | { kind: 'report'; address: string }
  /** An address for receivers' aggregate reports about DMARC and TLS. */
  | { kind: 'aggregate'; address: string }
  /** An account's address that has a rule. */
  | { kind: 'received'; address: string; taken: TakenFor }
  /** postmaster@ or abuse@. */
  | { kind: 'operator'; address: string }
  | { kind: 'refused'; reply: string }

/** What decides which recipients are accepted. */
export interface MailboxDeps {
  read: Read
  clock: Clock
  returnPaths: ReturnPaths
  /** The host names of this appliance; the first one completes `postmaster` without a host. */
  hosts: readonly string[]
  /** How long reports about a delivery are taken after it was accepted. */
  tokenLifeMs: number
  /** Decides at hosts where accounts receive; undefined at any other. */
  decideFor(local: string, host: string): Promise<Taking | undefined>
}

/** The mailbox to which registered feedback loops send, at any of our hosts. */
export const feedbackMailbox = 'feedback'
const aggregateMailboxes = [dmarcMailbox, tlsReportMailbox]
const operatorMailboxes = [postmaster, 'abuse']

/** Decides on one RCPT. A return path is checked by its signature alone, so that guessing costs us nothing. */
export function makeMailboxes(deps: MailboxDeps): (recipient: string) => Promise<RcptDecision> {
  const { read, clock, returnPaths, tokenLifeMs } = deps
  const hosts = deps.hosts.map((host) => host.toLowerCase())

  return async (recipient) => {
    const { local, host } = split(recipient, hosts[0] ?? '')
    const address = `${local}@${host}`
    const deliveryId = returnPaths.deliveryOf(address)
    if (deliveryId !== undefined) {
      if (acceptedAt(deliveryId) + tokenLifeMs > clock.now()) return { kind: 'report', address }
      return refused('550 5.1.1 This return path has expired')
    }
    if (!hosts.includes(host) && !(await isReturnPathHost(read, host))) {
      const taking = await deps.decideFor(local, host)
      if (taking?.kind === 'taken') return { kind: 'received', address, taken: taking.taken }
      if (taking?.kind === 'refused') return refused(taking.reply)
      if (taking === undefined) return refused('550 5.7.1 No mail is relayed')
      // RFC 5321 §4.5.1: whoever takes mail for a domain has a postmaster there.
      if (local === postmaster) return { kind: 'operator', address }
      return refused('550 5.1.1 No such mailbox')
    }
    if (local === feedbackMailbox) return { kind: 'report', address }
    if (aggregateMailboxes.includes(local) && (await hasVerifiedDomain(read))) {
      return { kind: 'aggregate', address }
    }
    if (operatorMailboxes.includes(local)) return { kind: 'operator', address }
    return refused('550 5.1.1 No such mailbox')
  }
}

/** In lower case: relays fold case, and no mailbox of ours depends on it. */
function split(recipient: string, ownHost: string) {
  const at = recipient.lastIndexOf('@')
  // RFC 5321 §4.1.1.3: `postmaster` without a domain is this host's.
  if (at < 0) return { local: recipient.toLowerCase(), host: ownHost }
  const given = recipient.slice(at + 1).toLowerCase()
  // smtp-server turns the client's A-labels into U-labels.
  return { local: recipient.slice(0, at).toLowerCase(), host: domainToASCII(given) || given }
}

/** RCPT is refused with this reply. */
const refused = (reply: string): RcptDecision => ({ kind: 'refused', reply })
