import { ApiError } from '../errors/index.js'
import { type Mailbox, parseMailbox } from '../mime/index.js'
import type { SendInput } from './send-body.js'
import { maxRecipients } from './send-fields.js'

export interface Recipients {
  /** As given, each mailbox once in its field; readers of the mail see all but `bcc`. */
  to: string[]
  cc: string[]
  bcc: string[]
  /** Who gets a delivery: each mailbox once, even if several fields name it. */
  mailboxes: Mailbox[]
}

/** Throws a 400 for too many, counted as they are given, over all three fields. */
export function recipientsOf({ to, cc, bcc }: Pick<SendInput, 'to' | 'cc' | 'bcc'>): Recipients {
  // This is the form of most mails.
  if (typeof to === 'string' && cc === undefined && bcc === undefined) {
    return { to: [to.trim()], cc: [], bcc: [], mailboxes: [mailboxOf(to)] }
  }
  const fields = [to, cc, bcc].map(listed)
  const count = fields.reduce((sum, field) => sum + field.length, 0)
  if (count > maxRecipients) {
    const message = `Too many recipients: ${count} given, at most ${maxRecipients} allowed`
    throw new ApiError('validation_error', message, { fields: { count, max: maxRecipients } })
  }
  const all = new Map<string, Mailbox>()
  const [givenTo = [], givenCc = [], givenBcc = []] = fields.map((field) => {
    const distinct = new Map<string, string>()
    for (const given of field) {
      const mailbox = mailboxOf(given)
      if (!distinct.has(mailbox.address)) distinct.set(mailbox.address, given.trim())
      if (!all.has(mailbox.address)) all.set(mailbox.address, mailbox)
    }
    return [...distinct.values()]
  })
  return { to: givenTo, cc: givenCc, bcc: givenBcc, mailboxes: [...all.values()] }
}

/** Parsed again at its use, so that the stored text is what was sent. */
function mailboxOf(given: string): Mailbox {
  const mailbox = parseMailbox(given)
  // `sendBody` lets only addresses through.
  if (mailbox === undefined) throw new Error('A recipient that is not an email address')
  return mailbox
}

/** One value, several or none, as a list. */
export function listed(given: string | readonly string[] | undefined): readonly string[] {
  return given === undefined ? [] : typeof given === 'string' ? [given] : given
}
