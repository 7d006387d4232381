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

/** What RCPT is answered, and what comes of the mail: both follow from the address alone. */
export type RcptDecision =
  /** A return path of ours, or the address that feedback loops report to. */
  | { kind: 'report'; address: string }
  /** Where receivers send what they count: about DMARC, and about TLS. */
  | { kind: 'aggregate'; address: string }
  /** An address of an account's, about which a rule is. */
  | { kind: 'received'; address: string; taken: TakenFor }
  /** postmaster@ or abuse@. */
  | { kind: 'operator'; address: string }
  | { kind: 'refused'; reply: string }

/** What decides for whom mail is taken. */
export interface MailboxDeps {
  read: Read
  clock: Clock
  returnPaths: ReturnPaths
  /** The host names of this appliance; the first one completes `postmaster` without a host. */
  hosts: readonly string[]
  /** After a delivery was accepted, reports about it are taken for so long. */
  tokenLifeMs: number
  /** At hosts where accounts receive; undefined at any other. */
  decideFor(local: string, host: string): Promise<Taking | undefined>
}

/** Where feedback loops are registered to send to, at any of our hosts. */
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

/** Lower case: relays fold it, and none of our mailboxes tells one from the other. */
function split(recipient: string, ownHost: string) {
  const at = recipient.lastIndexOf('@')
  // RFC 5321 §4.1.1.3: `postmaster` alone is this host's.
  if (at < 0) return { local: recipient.toLowerCase(), host: ownHost }
  const given = recipient.slice(at + 1).toLowerCase()
  // smtp-server makes U-labels of the A-labels that were said.
  return { local: recipient.slice(0, at).toLowerCase(), host: domainToASCII(given) || given }
}

/** RCPT is refused with this reply. */
const refused = (reply: string): RcptDecision => ({ kind: 'refused', reply })
