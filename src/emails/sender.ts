import { findSenderDomain, verifiedDomains } from '../domains/index.js'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'

/** Verified senders that were found already. */
export type Senders = Map<string, Awaited<ReturnType<typeof findSenderDomain>>>

/** The sender and its domain; throws a 400 unless the account may send from there. */
export async function verifiedSender(
  read: Read,
  accountId: string,
  from: string,
  senders: Senders = new Map(),
) {
  const mailbox = parseMailbox(from)
  if (mailbox === undefined) {
    const message = 'from is not a sender: expected "email@domain" or "Name <email@domain>"'
    throw new ApiError('validation_error', message, { fields: { domain: '' } })
  }
  const known = senders.get(mailbox.domain)
  const domain = known ?? (await findSenderDomain(read, accountId, mailbox.domain))
  senders.set(mailbox.domain, domain)
  if (domain?.status !== 'verified') {
    throw new ApiError(
      'domain_not_verified',
      `The sending domain ${mailbox.domain} is not verified for this account`,
      {
        fields: {
          domain: mailbox.domain,
          verifiedDomains: await verifiedDomains(read, accountId),
        },
      },
    )
  }
  return { mailbox, domainId: domain.id }
}
