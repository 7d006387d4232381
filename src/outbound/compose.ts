import type { DkimKey } from '../dkim/index.js'
import { signMessageAsync } from '../dkim/index.js'
import { signingKeys } from '../domains/index.js'
import { composeMessage, type Mailbox, parseMailbox } from '../mime/index.js'
import type { OutboundDeps } from './deps.js'
import { plainTextOf } from './plain-text.js'

/** A message ready for the wire: the pieces of it, and what the envelope has to know. */
export interface SignedMessage {
  pieces: Buffer[]
  smtpUtf8: boolean
  /** Where bounces go: the domain's own return path, or undefined for the appliance's. */
  returnPathHost: string | undefined
}

export type Composer = (emailId: string) => Promise<SignedMessage>

interface Signing {
  keys: DkimKey[]
  returnPathHost: string | undefined
  until: number
}

// Long enough to unseal a key once for thousands of mails, short enough that a rotation is seen.
const signingTtlMs = 60_000
const maxCachedDomains = 1_000
const blankLine = Buffer.from('\r\n')

/** Composes and signs. The same mail gets the same bytes on every attempt but for the signatures' time. */
export function makeComposer(deps: Pick<OutboundDeps, 'store' | 'clock' | 'key'>): Composer {
  const cached = new Map<string, Signing>()

  const signing = async (domainId: string): Promise<Signing> => {
    const now = deps.clock.now()
    const known = cached.get(domainId)
    if (known !== undefined && known.until > now) return known
    const found = await signingKeys(deps.store.read, deps.key, domainId)
    const fresh = { ...found, until: now + signingTtlMs }
    if (cached.size >= maxCachedDomains) cached.clear()
    cached.set(domainId, fresh)
    return fresh
  }

  return async (emailId) => {
    const email = await deps.store.read
      .selectFrom('emails')
      .leftJoin('bodies', 'bodies.id', 'emails.body_id')
      .select(['domain_id', 'from_header', 'to_list', 'reply_to', 'subject', 'message_id'])
      .select(['created_at', 'scheduled_at', 'bodies.html', 'bodies.text'])
      .where('emails.id', '=', emailId)
      .executeTakeFirstOrThrow()
    const html = email.html ?? undefined
    const composed = composeMessage({
      from: stored(email.from_header),
      to: (JSON.parse(email.to_list) as string[]).map(stored),
      replyTo: email.reply_to === null ? undefined : [stored(email.reply_to)],
      subject: email.subject,
      html,
      text: email.text ?? (html === undefined ? '' : plainTextOf(html)),
      messageId: email.message_id,
      dateMs: email.scheduled_at ?? email.created_at,
    })
    const { keys, returnPathHost } = await signing(email.domain_id)
    const signatures = await signMessageAsync(composed, keys, {
      timeSeconds: Math.floor(deps.clock.now() / 1000),
    })
    return {
      pieces: [signatures, composed.header, blankLine, composed.body],
      smtpUtf8: composed.smtpUtf8,
      returnPathHost,
    }
  }
}

function stored(text: string): Mailbox {
  const mailbox = parseMailbox(text)
  if (mailbox === undefined) throw new Error('A stored address does not parse')
  return mailbox
}
