import { findSenderDomain, verifiedDomains } from '../domains/index.js'
import { ApiError } from '../errors/index.js'
import { type Mailbox, parseMailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'

type SenderDomain = NonNullable<Awaited<ReturnType<typeof findSenderDomain>>>

/** The look-ups of an account's sender domains so far, by name. */
export interface Senders {
  /** The verified ones; any other domain is looked up again. */
  known: Map<string, SenderDomain>
  /** Look-ups without an answer yet: mails that come at once share one. */
  asked: Map<string, Promise<SenderDomain | undefined>>
}

export const noSenders = (): Senders => ({ known: new Map(), asked: new Map() })

/** The sender, if its domain was found already. */
export function knownSender(from: string, senders: Senders): VerifiedSender | undefined {
  const mailbox = parseMailbox(from)
  const domain = mailbox && senders.known.get(mailbox.domain)
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
    const says = 'Write an address such as Shop <hello@example.com>'
    const slips = [{ field: 'from', says }]
    throw new ApiError('validation_error', message, { fields: { domain: '' }, slips })
  }
  return { mailbox, domainId: await verifiedDomainId(read, accountId, mailbox.domain, senders) }
}

/** The id of the account's domain of that name (A-label, lower case); throws unless it is verified. */
export async function verifiedDomainId(
  read: Read,
  accountId: string,
  name: string,
  senders: Senders = noSenders(),
): Promise<string> {
  const domain = senders.known.get(name) ?? (await askOnce(read, accountId, name, senders))
  if (domain?.status !== 'verified') {
    const message = `The sending domain ${name} is not verified for this account`
    const fields = { domain: name, verifiedDomains: await verifiedDomains(read, accountId) }
    throw new ApiError('domain_not_verified', message, { fields })
  }
  senders.known.set(name, domain)
  return domain.id
}

async function askOnce(
  read: Read,
  accountId: string,
  name: string,
  { asked }: Senders,
): Promise<SenderDomain | undefined> {
  const known = asked.get(name)
  if (known !== undefined) return await known
  const question = findSenderDomain(read, accountId, name)
  asked.set(name, question)
  try {
    return await question
  } finally {
    asked.delete(name)
  }
}
