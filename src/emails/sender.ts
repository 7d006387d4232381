import { findSenderDomain, verifiedDomains } from '../domains/index.js'
import { ApiError } from '../errors/index.js'
import { type Mailbox, parseMailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'

/** Verified senders that were found already. */
export type Senders = Map<string, Awaited<ReturnType<typeof findSenderDomain>>>

/** The sender, where its domain was found already. */
export function knownSender(from: string, senders: Senders): VerifiedSender | undefined {
  const mailbox = parseMailbox(from)
  const domain = mailbox && senders.get(mailbox.domain)
  return domain && { mailbox, domainId: domain.id }
}

interface VerifiedSender {
  mailbox: Mailbox
  domainId: string
}

/** The sender and its domain; throws a 400 unless the account may send from there. */
export async function verifiedSender(
  read: Read,
  accountId: string,
  from: string,
  senders?: Senders,
): Promise<VerifiedSender> {
  const mailbox = parseMailbox(from)
  if (mailbox === undefined) {
    const message = 'from is not a sender: expected "email@domain" or "Name <email@domain>"'
    throw new ApiError('validation_error', message, { fields: { domain: '' } })
  }
  return { mailbox, domainId: await verifiedDomainId(read, accountId, mailbox.domain, senders) }
}

/** The id of the account's domain of that name (A-label, lower case); throws unless it is verified. */
export async function verifiedDomainId(
  read: Read,
  accountId: string,
  name: string,
  senders: Senders = new Map(),
): Promise<string> {
  const domain = senders.get(name) ?? (await findSenderDomain(read, accountId, name))
  if (domain?.status !== 'verified') {
    const message = `The sending domain ${name} is not verified for this account`
    const fields = { domain: name, verifiedDomains: await verifiedDomains(read, accountId) }
    throw new ApiError('domain_not_verified', message, { fields })
  }
  senders.set(name, domain)
  return domain.id
}
